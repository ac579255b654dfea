// SPDX-License-Identifier: BSD-2-Clause
//
// Unit tests of packet inspection on byte arrays; built with ASan and UBSan. Each
// frame is handed over in a heap block of exactly its size, so that one byte read
// too far ends the test.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packet/packet.h"

// IPv4 RC ACKNOWLEDGE, the shortest packet with an extension header.
static const uint8_t ack_frame[] = {
    0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x45, 0x6a,
    0x00, 0x30, 0x1a, 0x2e, 0x40, 0x00, 0x40, 0x11, 0x9c, 0xd1, 0xc0, 0xa8, 0x01, 0x01, 0xc0, 0xa8,
    0x01, 0x02, 0xc0, 0xde, 0x12, 0xb7, 0x00, 0x1c, 0x00, 0x00, 0x11, 0x40, 0xff, 0xff, 0x00, 0x00,
    0x00, 0x21, 0x00, 0x12, 0x34, 0x56, 0x1f, 0x00, 0x00, 0x01, 0x97, 0xdf, 0x36, 0x4f,
};

static struct roce_packet inspect(const uint8_t *frame, size_t size, size_t full_size) {
    uint8_t *block = malloc(size ? size : 1);
    assert_non_null(block);
    memcpy(block, frame, size);
    const struct roce_record record = {
        .data = block,
        .size = (uint32_t)size,
        .full_size = (uint32_t)full_size,
        .is_ethernet = true,
    };
    struct roce_packet packet;
    roce_inspect(&record, &packet);
    free(block);
    return packet;
}

static void a_good_frame_is_ok_with_equal_values(void **state) {
    (void)state;
    const struct roce_packet packet = inspect(ack_frame, sizeof ack_frame, sizeof ack_frame);
    assert_int_equal(packet.verdict, ROCE_OK);
    assert_int_equal(packet.right, packet.found);
    assert_int_equal(packet.found, 0x4F36DF97);
}

static void the_bth_is_read(void **state) {
    (void)state;
    const struct roce_packet packet = inspect(ack_frame, sizeof ack_frame, sizeof ack_frame);
    assert_int_equal(packet.opcode, 0x11);
    assert_int_equal(packet.flags, 0x40);
    assert_int_equal(packet.pkey, 0xFFFF);
    assert_int_equal(packet.qpn, 0x21);
    assert_int_equal(packet.psn, 0x123456);
    assert_int_equal(roce_body_bytes(&packet), 4);
}

static void a_flipped_bit_is_bad_with_both_values(void **state) {
    (void)state;
    uint8_t frame[sizeof ack_frame];
    memcpy(frame, ack_frame, sizeof frame);
    frame[54] ^= 1;
    const struct roce_packet packet = inspect(frame, sizeof frame, sizeof frame);
    assert_int_equal(packet.verdict, ROCE_BAD);
    assert_int_equal(packet.found, 0x4F36DF97);
    assert_int_not_equal(packet.right, packet.found);
}

static void a_shorter_frame_is_broken(void **state) {
    (void)state;
    for (size_t size = 0; size < sizeof ack_frame; size++) {
        const struct roce_packet packet = inspect(ack_frame, size, size);
        assert_int_equal(packet.verdict, ROCE_UNCHECKED);
        assert_true(packet.class == ROCE_OTHER || packet.fault == ROCE_IP_LENGTH);
    }
}

static void a_cut_frame_is_sound_and_unchecked(void **state) {
    (void)state;
    for (size_t size = 42; size < sizeof ack_frame; size++) {
        const struct roce_packet packet = inspect(ack_frame, size, sizeof ack_frame);
        assert_int_equal(packet.fault, ROCE_SOUND);
        assert_int_equal(packet.verdict, ROCE_UNCHECKED);
        assert_true(packet.cut);
        assert_int_equal(packet.has_bth, size >= 54);
    }
}

static void an_fcs_is_taken_off_where_it_is_right(void **state) {
    (void)state;
    uint8_t frame[sizeof ack_frame + 4] = {0};
    memcpy(frame, ack_frame, sizeof ack_frame);
    memcpy(frame + sizeof ack_frame, (const uint8_t[]){0xde, 0x14, 0x2e, 0xdc}, 4);
    const struct roce_packet with = inspect(frame, sizeof frame, sizeof frame);
    assert_int_equal(with.full_size, sizeof ack_frame);
    frame[sizeof ack_frame] ^= 1;
    const struct roce_packet without = inspect(frame, sizeof frame, sizeof frame);
    assert_int_equal(without.full_size, sizeof frame);
}

static void every_value_of_every_header_byte_is_survived(void **state) {
    (void)state;
    for (size_t at = 12; at < 42; at++) {
        for (unsigned value = 0; value < 256; value++) {
            uint8_t frame[sizeof ack_frame];
            memcpy(frame, ack_frame, sizeof frame);
            frame[at] = (uint8_t)value;
            for (size_t size = 34; size <= sizeof frame; size += 7)
                inspect(frame, size, sizeof frame);
        }
    }
}

static void a_frame_of_nothing_but_vlan_tags_is_not_roce(void **state) {
    (void)state;
    uint8_t frame[2048];
    for (size_t i = 0; i < sizeof frame; i += 4)
        memcpy(frame + i, (const uint8_t[]){0x81, 0x00, 0x00, 0x00}, 4);
    for (size_t size = 0; size <= sizeof frame; size += size < 64 ? 1 : 61)
        assert_int_equal(inspect(frame, size, size).class, ROCE_OTHER);
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
        const size_t size = 14 + (random >> 4) % (sizeof frame - 13);
        inspect(frame, size, random & 1 ? size : sizeof frame);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_frame_is_ok_with_equal_values),
        cmocka_unit_test(the_bth_is_read),
        cmocka_unit_test(a_flipped_bit_is_bad_with_both_values),
        cmocka_unit_test(a_shorter_frame_is_broken),
        cmocka_unit_test(a_cut_frame_is_sound_and_unchecked),
        cmocka_unit_test(an_fcs_is_taken_off_where_it_is_right),
        cmocka_unit_test(every_value_of_every_header_byte_is_survived),
        cmocka_unit_test(a_frame_of_nothing_but_vlan_tags_is_not_roce),
        cmocka_unit_test(random_changes_never_escape_the_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
