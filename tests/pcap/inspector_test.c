// SPDX-License-Identifier: BSD-2-Clause
//
// An inspector says of each packet what roce_inspect says, whatever it has seen before, and calls
// alike only what is.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packet/checksum.h"
#include "packet/inspector.h"

enum { LARGEST = 256, PAYLOAD = 64, FCS = 4, IDENT = 18, CHECKSUM = 24 };

struct frame {
    uint8_t bytes[LARGEST];
    uint32_t size;
    uint32_t bth;
};

static void seal(struct frame *frame) {
    const struct roce_record record = {
        .data = frame->bytes, .size = frame->size, .full_size = frame->size, .is_ethernet = true};
    struct roce_packet packet;
    roce_inspect(&record, &packet);
    for (uint32_t byte = 0; byte < 4; byte++)
        frame->bytes[frame->size - 4 + byte] = (uint8_t)(packet.right >> 8 * byte);
}

static void set_checksum(struct frame *frame) {
    memset(frame->bytes + CHECKSUM, 0, 2);
    const uint16_t sum = roce_internet_residue(frame->bytes + 14, 20, 0);
    frame->bytes[CHECKSUM] = (uint8_t)(sum >> 8);
    frame->bytes[CHECKSUM + 1] = (uint8_t)sum;
}

// A request that carries some bytes.
static struct frame request(bool ipv6) {
    struct frame frame = {.bth = ipv6 ? 62 : 42};
    frame.size = frame.bth + ROCE_BTH_BYTES + PAYLOAD + ROCE_ICRC_BYTES;
    const uint8_t length = (uint8_t)(frame.size - frame.bth + ROCE_UDP_BYTES);
    uint8_t *at = frame.bytes;
    memcpy(at, (const uint8_t[]){2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}, 12);
    if (ipv6) {
        memcpy(at + 12, (const uint8_t[]){0x86, 0xDD, 0x60, 0, 0, 0, 0, length, 17, 64, 0xFD}, 11);
        memcpy(at + 38, (const uint8_t[]){0xFD}, 1);
    } else {
        memcpy(at + 12, (const uint8_t[]){8, 0, 0x45, 0, 0, (uint8_t)(length + 20), 0x12, 0x34}, 8);
        memcpy(at + 20, (const uint8_t[]){0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}, 14);
        set_checksum(&frame);
    }
    memcpy(at + frame.bth - 8, (const uint8_t[]){0xC0, 1, 0x12, 0xB7, 0, length, 0, 0}, 8);
    memcpy(at + frame.bth, (const uint8_t[]){4, 0, 0xFF, 0xFF, 0, 0, 1, 2, 0, 0x12, 0x34, 0x56},
           12);
    for (uint32_t i = 0; i < PAYLOAD; i++)
        at[frame.bth + ROCE_BTH_BYTES + i] = (uint8_t)(i * 37);
    seal(&frame);
    return frame;
}

// Inspect a record in a block of exactly its size by both; returns the look.
static uint64_t inspect(struct roce_inspector *inspector, const struct frame *frame,
                        struct roce_record record) {
    uint8_t *block = malloc(record.size ? record.size : 1);
    assert_non_null(block);
    memcpy(block, frame->bytes, record.size);
    record.data = block;
    struct roce_packet plain;
    struct roce_packet packet;
    roce_inspect(&record, &plain);
    roce_inspect_next(inspector, &record, &packet);
    const uint64_t look = packet.look;
    packet.look = 0;
    assert_memory_equal(&packet, &plain, sizeof packet);
    free(block);
    return look;
}

static struct roce_record whole(const struct frame *frame) {
    return (struct roce_record){.size = frame->size, .full_size = frame->size, .is_ethernet = true};
}

static uint64_t inspect_whole(struct roce_inspector *inspector, const struct frame *frame) {
    return inspect(inspector, frame, whole(frame));
}

static bool may_change(const struct frame *frame, uint32_t byte) {
    return byte >= frame->bth + 9;
}

static void one_other_bit_is_seen(bool ipv6) {
    struct roce_inspector *inspector = roce_inspector_create(3);
    const struct frame usual = request(ipv6);
    assert_non_null(inspector);
    for (uint32_t place = 0; place < 8 * usual.size; place++) {
        const uint64_t look = inspect_whole(inspector, &usual);
        struct frame other = usual;
        other.bytes[place / 8] ^= (uint8_t)(1U << place % 8);
        assert_true(look != 0);
        assert_int_equal(inspect_whole(inspector, &other) == look, may_change(&usual, place / 8));
        seal(&other);
        assert_int_equal(inspect_whole(inspector, &other) == look, may_change(&usual, place / 8));
    }
    roce_inspector_destroy(inspector);
}

static void one_other_bit_on_ipv4_is_seen(void **state) {
    (void)state;
    one_other_bit_is_seen(false);
}

static void one_other_bit_on_ipv6_is_seen(void **state) {
    (void)state;
    one_other_bit_is_seen(true);
}

static void what_counts_up_looks_the_same(void **state) {
    (void)state;
    struct roce_inspector *inspector = roce_inspector_create(0);
    struct frame frame = request(false);
    assert_non_null(inspector);
    const uint64_t look = inspect_whole(inspector, &frame);
    for (uint32_t ident = 0; ident < 0x10000; ident += 5) {
        frame.bytes[IDENT] = (uint8_t)(ident >> 8);
        frame.bytes[IDENT + 1] = (uint8_t)ident;
        frame.bytes[frame.bth + 9] = (uint8_t)(ident * 7);
        frame.bytes[frame.bth + 11] = (uint8_t)ident;
        set_checksum(&frame);
        seal(&frame);
        assert_int_equal(inspect_whole(inspector, &frame), look);
    }
    roce_inspector_destroy(inspector);
}

static void records_are_told_apart(void **state) {
    (void)state;
    struct roce_inspector *inspector = roce_inspector_create(0);
    const struct frame usual = request(false);
    assert_non_null(inspector);
    const uint64_t look = inspect_whole(inspector, &usual);
    for (uint32_t size = 0; size <= usual.size; size++) {
        const struct roce_record cut = {.size = size, .full_size = usual.size, .is_ethernet = true};
        const struct roce_record shorter = {.size = size, .full_size = size, .is_ethernet = true};
        assert_int_equal(inspect(inspector, &usual, cut) == look, size == usual.size);
        assert_int_equal(inspect(inspector, &usual, shorter) == look, size == usual.size);
    }
    struct roce_record record = whole(&usual);
    record.fcs_bytes = FCS;
    assert_true(inspect(inspector, &usual, record) != look);
    record = whole(&usual);
    record.is_ethernet = false;
    assert_true(inspect(inspector, &usual, record) != look);
    record = whole(&usual);
    record.size = record.full_size = usual.size + FCS;
    assert_true(inspect(inspector, &usual, record) != look);
    assert_int_equal(inspect_whole(inspector, &usual), look);
    roce_inspector_destroy(inspector);
}

static void random_changes_are_inspected_as_ever(void **state) {
    (void)state;
    struct roce_inspector *inspector = roce_inspector_create(0);
    assert_non_null(inspector);
    uint32_t random = 1;
    struct frame frame = request(false);
    for (int round = 0; round < 20000; round++) {
        if (round % 8 == 0)
            frame = request(round % 16 == 0);
        random = random * 1664525U + 1013904223U;
        frame.bytes[(random >> 8) % frame.size] = (uint8_t)(random >> 24);
        if (random & 32)
            seal(&frame);
        inspect_whole(inspector, &frame);
    }
    roce_inspector_destroy(inspector);
}

static void two_inspectors_give_different_numbers(void **state) {
    (void)state;
    const struct frame usual = request(false);
    uint64_t looks[ROCE_INSPECTORS];
    for (unsigned int i = 0; i < ROCE_INSPECTORS; i++) {
        struct roce_inspector *inspector = roce_inspector_create(i);
        assert_non_null(inspector);
        looks[i] = inspect_whole(inspector, &usual);
        for (unsigned int before = 0; before < i; before++)
            assert_true(looks[i] != looks[before]);
        roce_inspector_destroy(inspector);
    }
    assert_int_equal(inspect_whole(NULL, &usual), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_other_bit_on_ipv4_is_seen),
        cmocka_unit_test(one_other_bit_on_ipv6_is_seen),
        cmocka_unit_test(what_counts_up_looks_the_same),
        cmocka_unit_test(records_are_told_apart),
        cmocka_unit_test(random_changes_are_inspected_as_ever),
        cmocka_unit_test(two_inspectors_give_different_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
