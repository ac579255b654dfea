// SPDX-License-Identifier: BSD-2-Clause
//
// A capture that the bridge plays into a device: every frame fits a port, none
// comes before its time or before the one in front, and behind the end or an
// error there is nothing. Bit 0 of the first byte plays them back to back.

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/frame.h"
#include "link/link.h"
#include "target.h"

static void play(struct link *link, struct error *error) {
    static uint8_t frame[FRAME_MAX];
    uint64_t before = 0;
    enum link_result result = LINK_OK;
    while (result == LINK_OK) {
        size_t length = 0;
        const uint64_t due = link->ops->next_ns(link);
        demand(due >= before);
        before = due;
        if (due > 0 && due != LINK_NEVER)
            demand(link->ops->receive(link, due - 1, frame, &length, error) == LINK_BUSY);
        result = link->ops->receive(link, due, frame, &length, error);
        demand(result != LINK_OK || (length > 0 && length <= FRAME_MAX));
        demand(result != LINK_BUSY || due == LINK_NEVER);
    }
    demand((result == LINK_FAILED) == error_is_set(error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    char path[32];
    struct error error = {0};
    const int file = memfd_create("capture", 0);
    demand(file >= 0 && write(file, data + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    struct link *link = link_pcap_open(path, data[0] & 1, &error);
    close(file);
    demand((link == NULL) == error_is_set(&error));
    if (link) {
        play(link, &error);
        link->ops->close(link);
    }
    return 0;
}
