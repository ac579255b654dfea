// SPDX-License-Identifier: BSD-2-Clause
#include "host/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sysfs_line(const char *path, char *line, size_t size) {
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    bool ok = fgets(line, (int)size, file) != NULL;
    fclose(file);
    if (ok) {
        line[strcspn(line, "\n")] = '\0';
    }
    return ok;
}

json_t *sysfs_numbers(const char *directory) {
    json_t *numbers = json_object();
    DIR *dir = opendir(directory);
    if (!dir) {
        return numbers;
    }
    const struct dirent *entry = NULL;
    while ((entry = readdir(dir))) {
        char path[PATH_MAX];
        char line[64];
        int length = snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        if (length >= (int)sizeof(path) || !sysfs_line(path, line, sizeof(line))) {
            continue;
        }
        char *end = NULL;
        errno = 0;
        long long number = strtoll(line, &end, 10);
        if (errno == 0 && end != line && *end == '\0') {
            json_object_set_new(numbers, entry->d_name, json_integer(number));
        }
    }
    closedir(dir);
    return numbers;
}
