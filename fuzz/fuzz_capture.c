// SPDX-License-Identifier: BSD-2-Clause
//
// The capture reader on any bytes in memory: every packet it hands out lies in
// the input, is numbered in order and no longer than it was on the wire, and an
// end in error has a text.

#include "capture/capture.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[256] = "";
    struct roce_capture *capture = roce_capture_open_memory(data, size, error, sizeof error);
    demand(capture ? error[0] == '\0' : error[0] != '\0');
    if (!capture)
        return 0;
    struct roce_record record;
    enum roce_capture_status status;
    uint64_t number = 0;
    const uint8_t *behind = data;
    while ((status = roce_capture_next(capture, &record)) == ROCE_CAPTURE_PACKET) {
        demand(record.number == ++number);
        demand(record.size <= record.full_size);
        demand(record.data >= behind && record.size <= (size_t)(data + size - record.data));
        behind = record.data + record.size;
        roce_capture_release(capture, number);
    }
    demand((status == ROCE_CAPTURE_ERROR) == (roce_capture_error(capture)[0] != '\0'));
    demand(roce_capture_next(capture, &record) == status);
    roce_capture_close(capture);
    return 0;
}
