// SPDX-License-Identifier: BSD-2-Clause
//
// Prints what the capture reader hands out, for the tests: one line a packet
// (number, time, interface, sizes, FCS, Ethernet or not, CRC-32), then "end" or
// "error: " and the text. Reads a file, or with -i an interface for as many
// packets as asked. Looks at packets in batches, as the checker does, so that
// a sanitizer sees any that is not kept until its release.

#include <inttypes.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"

enum { BATCH = 512 };

static void print_batch(const struct roce_record *records, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct roce_record *r = &records[i];
        printf("%" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %u %u %08" PRIx32 "\n",
               r->number, r->time_ns, r->interface, r->size, r->full_size, r->fcs_bytes,
               r->is_ethernet, libdeflate_crc32(0, r->data, r->size));
    }
    fflush(stdout);
}

int main(int count, char **arguments) {
    const int live = count == 4 && strcmp(arguments[1], "-i") == 0;
    const size_t batch = live ? 1 : BATCH;
    uint64_t wanted = live ? strtoull(arguments[3], NULL, 10) : UINT64_MAX;
    char error[256];
    struct roce_capture *capture = live ? roce_capture_open_live(arguments[2], error, sizeof error)
                                        : roce_capture_open(arguments[1], error, sizeof error);
    if (!capture) {
        printf("error: %s\n", error);
        return 2;
    }
    if (live)
        fputs("listening\n", stderr);
    static struct roce_record records[BATCH];
    enum roce_capture_status status;
    do {
        size_t held = 0;
        while (held < batch &&
               (status = roce_capture_next(capture, &records[held])) == ROCE_CAPTURE_PACKET)
            held++;
        print_batch(records, held);
        if (held)
            roce_capture_release(capture, records[held - 1].number);
        wanted -= held;
        if (wanted == 0)
            roce_capture_stop(capture);
    } while (status == ROCE_CAPTURE_PACKET);
    if (status == ROCE_CAPTURE_ERROR)
        printf("error: %s\n", roce_capture_error(capture));
    else
        puts("end");
    roce_capture_close(capture);
    return status == ROCE_CAPTURE_END ? 0 : 2;
}
