// SPDX-License-Identifier: BSD-2-Clause
//
// The capture reader on a pipe: the same bytes give the same packets and the
// same end as from memory. Bytes that start like gzip have no such twin; they
// need only be survived.

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "target.h"

enum { PIPE_BYTES = 65536 };

static struct roce_capture *open_pipe(const uint8_t *data, size_t size, char error[256]) {
    int ends[2];
    demand(pipe(ends) == 0);
    demand(write(ends[1], data, size) == (ssize_t)size);
    close(ends[1]);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct roce_capture *capture = roce_capture_open(path, error, 256);
    close(ends[0]);
    return capture;
}

static void compare(struct roce_capture *streamed, struct roce_capture *whole) {
    enum roce_capture_status status;
    do {
        struct roce_record ours = {0};
        struct roce_record theirs = {0};
        status = roce_capture_next(streamed, &ours);
        demand(status == roce_capture_next(whole, &theirs));
        if (status == ROCE_CAPTURE_PACKET) {
            demand(ours.size == theirs.size && ours.time_ns == theirs.time_ns);
            demand(memcmp(ours.data, theirs.data, ours.size) == 0);
            if (ours.number % 3 == 0)
                roce_capture_release(streamed, ours.number);
        }
    } while (status == ROCE_CAPTURE_PACKET);
    demand(strcmp(roce_capture_error(streamed), roce_capture_error(whole)) == 0);
}

static void drain(struct roce_capture *capture) {
    struct roce_record record;
    while (roce_capture_next(capture, &record) == ROCE_CAPTURE_PACKET)
        roce_capture_release(capture, record.number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > PIPE_BYTES)
        return 0;
    char streamed_error[256] = "";
    char whole_error[256] = "";
    struct roce_capture *streamed = open_pipe(data, size, streamed_error);
    const bool is_gzip = size >= 2 && data[0] == 0x1F && data[1] == 0x8B;
    struct roce_capture *whole =
        is_gzip ? NULL : roce_capture_open_memory(data, size, whole_error, sizeof whole_error);
    if (!is_gzip)
        demand(!streamed == !whole && strcmp(streamed_error, whole_error) == 0);
    if (streamed && whole)
        compare(streamed, whole);
    else if (streamed)
        drain(streamed);
    if (streamed)
        roce_capture_close(streamed);
    if (whole)
        roce_capture_close(whole);
    return 0;
}
