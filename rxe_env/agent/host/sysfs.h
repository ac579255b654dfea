// SPDX-License-Identifier: BSD-2-Clause
//
// Small text files of sysfs.
#ifndef ROCEPROOF_AGENT_SYSFS_H
#define ROCEPROOF_AGENT_SYSFS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// The first line of a file, without its newline.
bool sysfs_line(const char *path, char *line, size_t size);

// Every readable numeric file of a directory as {"name": number}; an empty
// object when there is no such directory.
json_t *sysfs_numbers(const char *directory);

#endif
