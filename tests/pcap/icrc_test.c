// SPDX-License-Identifier: BSD-2-Clause
//
// Unit tests of the C ICRC on byte arrays; built with ASan and UBSan. Each
// frame is handed over in a heap block of exactly its size, so that one byte
// read too far ends the test.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "icrc.h"

// IPv4 RC ACKNOWLEDGE, the shortest packet with an extension header.
static const uint8_t ack_frame[] = {
    0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x45, 0x6a,
    0x00, 0x30, 0x1a, 0x2e, 0x40, 0x00, 0x40, 0x11, 0x9c, 0xd1, 0xc0, 0xa8, 0x01, 0x01, 0xc0, 0xa8,
    0x01, 0x02, 0xc0, 0xde, 0x12, 0xb7, 0x00, 0x1c, 0x00, 0x00, 0x11, 0x40, 0xff, 0xff, 0x00, 0x00,
    0x00, 0x21, 0x00, 0x12, 0x34, 0x56, 0x1f, 0x00, 0x00, 0x01, 0x97, 0xdf, 0x36, 0x4f,
};

static struct roce_icrc_result check_exactly(const uint8_t *frame, size_t size) {
    uint8_t *block = malloc(size ? size : 1);
    assert_non_null(block);
    memcpy(block, frame, size);
    const struct roce_icrc_result result = roce_icrc_check(block, size);
    free(block);
    return result;
}

static void a_good_frame_is_ok_with_equal_values(void **state) {
    (void)state;
    const struct roce_icrc_result result = check_exactly(ack_frame, sizeof ack_frame);
    assert_int_equal(result.verdict, ROCE_ICRC_OK);
    assert_memory_equal(result.found, result.computed, 4);
    assert_memory_equal(result.found, ack_frame + sizeof ack_frame - 4, 4);
}

static void a_flipped_bit_is_bad_with_both_values(void **state) {
    (void)state;
    uint8_t frame[sizeof ack_frame];
    memcpy(frame, ack_frame, sizeof frame);
    frame[54] ^= 1;
    const struct roce_icrc_result result = check_exactly(frame, sizeof frame);
    assert_int_equal(result.verdict, ROCE_ICRC_BAD);
    assert_memory_equal(result.found, ack_frame + sizeof ack_frame - 4, 4);
    assert_memory_not_equal(result.found, result.computed, 4);
}

static void no_truncation_is_judged_or_read_past(void **state) {
    (void)state;
    for (size_t size = 0; size < sizeof ack_frame; size++) {
        const enum roce_icrc_verdict verdict = check_exactly(ack_frame, size).verdict;
        assert_true(verdict == ROCE_ICRC_NOT_ROCE || verdict == ROCE_ICRC_MALFORMED);
    }
}

static void every_value_of_every_header_byte_is_survived(void **state) {
    (void)state;
    for (size_t at = 12; at < 42; at++) {
        for (unsigned value = 0; value < 256; value++) {
            uint8_t frame[sizeof ack_frame];
            memcpy(frame, ack_frame, sizeof frame);
            frame[at] = (uint8_t)value;
            for (size_t size = 34; size <= sizeof frame; size += 7)
                check_exactly(frame, size);
        }
    }
}

static void a_frame_of_nothing_but_vlan_tags_is_not_roce(void **state) {
    (void)state;
    uint8_t frame[256];
    for (size_t i = 0; i < sizeof frame; i += 4)
        memcpy(frame + i, (const uint8_t[]){0x81, 0x00, 0x00, 0x00}, 4);
    for (size_t size = 0; size <= sizeof frame; size++)
        assert_int_equal(check_exactly(frame, size).verdict, ROCE_ICRC_NOT_ROCE);
}

static void random_changes_never_escape_the_frame(void **state) {
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        uint8_t frame[sizeof ack_frame];
        memcpy(frame, ack_frame, sizeof frame);
        for (int change = 0; change < 3; change++) {
            random = random * 1664525U + 1013904223U;
            frame[12 + (random >> 8) % (sizeof frame - 12)] = (uint8_t)(random >> 24);
        }
        check_exactly(frame, 14 + (random >> 4) % (sizeof frame - 13));
    }
}

static void each_verdict_has_its_own_name(void **state) {
    (void)state;
    assert_string_equal(roce_icrc_verdict_name(ROCE_ICRC_NOT_ROCE), "not-roce");
    assert_string_equal(roce_icrc_verdict_name(ROCE_ICRC_MALFORMED), "malformed");
    assert_string_equal(roce_icrc_verdict_name(ROCE_ICRC_OK), "ok");
    assert_string_equal(roce_icrc_verdict_name(ROCE_ICRC_BAD), "bad");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_frame_is_ok_with_equal_values),
        cmocka_unit_test(a_flipped_bit_is_bad_with_both_values),
        cmocka_unit_test(no_truncation_is_judged_or_read_past),
        cmocka_unit_test(every_value_of_every_header_byte_is_survived),
        cmocka_unit_test(a_frame_of_nothing_but_vlan_tags_is_not_roce),
        cmocka_unit_test(random_changes_never_escape_the_frame),
        cmocka_unit_test(each_verdict_has_its_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
