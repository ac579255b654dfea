// SPDX-License-Identifier: BSD-2-Clause
//
// A tap point's capture: a pcapng file with one interface per port and
// nanosecond simulated time. Every block leaves in one write(), so the file is
// valid up to its last whole block whatever happens to the simulation. Nothing
// in it comes from the wall clock.

#ifndef ROCEPROOF_PCAPNG_H
#define ROCEPROOF_PCAPNG_H

#include "common/buffer.h"
#include "common/error.h"

#include <limits.h>
#include <stdbool.h>

enum pcapng_direction {
    PCAPNG_INBOUND = 1, // received by the DUT
    PCAPNG_OUTBOUND = 2 // sent by the DUT
};

struct pcapng {
    int fd;
    unsigned interfaces;
    struct buffer block;
    char path[PATH_MAX];
};

// Creates or empties the file and writes the section header.
int pcapng_open(struct pcapng *file, const char *path, const char *comment, struct error *error);

// Describes the next interface; its number is the count of those before it.
int pcapng_interface(struct pcapng *file, const char *name, const char *description,
                     struct error *error);

// `discard` sets the link layer's CRC-error flag: the frame was marked bad. An empty comment is
// none.
int pcapng_packet(struct pcapng *file, unsigned interface, enum pcapng_direction direction,
                  bool discard, uint64_t time_ns, const uint8_t *frame, size_t length,
                  const char *comment, struct error *error);

void pcapng_close(struct pcapng *file);

#endif
