// SPDX-License-Identifier: BSD-2-Clause
//
// The sparse memory: against a flat one, at its ends, and over many pages.

#include "unit.h"

#include "port/memory.h"

#include <stdlib.h>

enum { FLAT = 1 << 16 };

static void it_is_as_a_flat_one(void **state) {
    static uint8_t flat[FLAT], found[FLAT], bytes[9000];
    const uint64_t base = UINT64_C(0x123456789000) - 100; // not at a page's start
    struct memory memory = {0};
    uint32_t random = 1;
    (void)state;
    for (int round = 0; round < 500; round++) {
        random = random * 1664525 + 1013904223;
        size_t length = random >> 8 & 1 ? random >> 16 & 63 : (random >> 16) % sizeof bytes;
        size_t at = (random >> 5) % (FLAT - length);
        memset(bytes, (int)(round % 255 + 1), length);
        memcpy(flat + at, bytes, length);
        assert_true(memory_write(&memory, base + at, bytes, length));
    }
    memory_read(&memory, base, found, FLAT);
    assert_memory_equal(found, flat, FLAT);
    memory_free(&memory);
    memory_read(&memory, base, found, 16);
    assert_int_equal(found[0], 0);
}

static void it_goes_round_at_the_end_of_the_address_space(void **state) {
    static const uint8_t bytes[4] = {1, 2, 3, 4};
    uint8_t found[2];
    struct memory memory = {0};
    (void)state;
    assert_true(memory_write(&memory, UINT64_MAX - 1, bytes, sizeof bytes));
    memory_read(&memory, 0, found, sizeof found);
    assert_memory_equal(found, bytes + 2, sizeof found);
    memory_free(&memory);
}

static void it_finds_each_of_many_pages(void **state) {
    struct memory memory = {0};
    (void)state;
    for (uint64_t page = 0; page < 1000; page++) {
        uint8_t byte = (uint8_t)(page % 251 + 1);
        assert_true(memory_write(&memory, page << 32, &byte, 1));
    }
    for (uint64_t page = 0; page < 1000; page++) {
        uint8_t byte = 0;
        memory_read(&memory, page << 32, &byte, 1);
        assert_int_equal(byte, page % 251 + 1);
    }
    memory_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_as_a_flat_one),
        cmocka_unit_test(it_goes_round_at_the_end_of_the_address_space),
        cmocka_unit_test(it_finds_each_of_many_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
