// SPDX-License-Identifier: BSD-2-Clause
//
// Replaying a capture whose time stamps make no sense.

#include "unit.h"

#include "common/frame.h"
#include "link/link.h"

#include <stdlib.h>

static char path[] = "/tmp/roceproof-unit-XXXXXX";
static int file;

static int create(void **state) {
    (void)state;
    file = mkstemp(path);
    return file < 0 ? -1 : 0;
}

static int remove_file(void **state) {
    (void)state;
    (void)close(file);
    return unlink(path);
}

static void put(const void *bytes, size_t size) {
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
}

static void put_header_with_second_resolution(void) {
    const uint32_t section[] = {0x0A0D0D0A, 28, 0x1A2B3C4D, 1, UINT32_MAX, UINT32_MAX, 28};
    const uint32_t interface[] = {1, 32, 1, 0, 9 | 1 << 16, 0, 0, 32};
    put(section, sizeof section);
    put(interface, sizeof interface);
}

static void put_frame(uint64_t seconds) {
    const uint32_t head[] = {6, 92, 0, (uint32_t)(seconds >> 32), (uint32_t)seconds, 60, 60};
    static const uint8_t frame[60];
    const uint32_t length = 92;
    put(head, sizeof head);
    put(frame, sizeof frame);
    put(&length, sizeof length);
}

static void seconds_beyond_reason_are_no_overflow(void **state) {
    struct error error = {0};
    uint8_t frame[FRAME_MAX];
    size_t length = 0;
    (void)state;
    put_header_with_second_resolution();
    put_frame(1);
    put_frame(INT64_MAX);
    put_frame(UINT64_MAX);
    put_frame(UINT64_C(1) << 62);
    struct link *link = link_pcap_open(path, false, &error);
    assert_non_null(link);
    for (unsigned i = 0; i < 4; i++) {
        uint64_t now = link->ops->next_ns(link);
        assert_int_equal(link->ops->receive(link, now, frame, &length, &error), LINK_OK);
        assert_int_equal(length, 60);
    }
    assert_true(link->ops->next_ns(link) == LINK_NEVER);
    link->ops->close(link);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(seconds_beyond_reason_are_no_overflow)};
    return cmocka_run_group_tests(tests, create, remove_file);
}
