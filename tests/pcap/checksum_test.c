// SPDX-License-Identifier: BSD-2-Clause
//
// Unit tests of the CRC's linearity and of the Internet checksum.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <libdeflate.h>

#include "packet/checksum.h"

static void the_prefix_is_the_crc_of_eight_ones(void **state) {
    (void)state;
    const uint8_t ones[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    assert_int_equal(roce_crc(0, ones, sizeof ones), ROCE_PREFIX_CRC);
    assert_int_equal(roce_crc(0, (const uint8_t *)"123456789", 9), 0xCBF43926);
}

static void a_difference_moves_past_bytes_of_any_number(void **state) {
    (void)state;
    uint8_t bytes[4200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + 3);
    const uint32_t starts[] = {0, ROCE_PREFIX_CRC, 0xFFFFFFFF, 0x12345678};
    const uint32_t sizes[] = {0, 1, 2, 3, 4, 63, 64, 1023, 1024, 4096, 4199};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 1; j < sizeof starts / sizeof *starts; j++) {
            const uint32_t differs = starts[0] ^ starts[j];
            const uint32_t one = roce_crc(starts[0], bytes, sizes[i]);
            const uint32_t other = roce_crc(starts[j], bytes, sizes[i]);
            assert_int_equal(one ^ other, roce_crc_shift(differs, sizes[i]));
        }
}

// Two steps are one step as long as both, up to the longest.
static void a_difference_moves_by_every_power_of_two(void **state) {
    (void)state;
    for (unsigned int bit = 0; bit < 31; bit++) {
        const uint32_t half = roce_crc_shift(0x12345678, 1U << bit);
        assert_int_equal(roce_crc_shift(half, 1U << bit), roce_crc_shift(0x12345678, 2U << bit));
    }
}

static void a_crc_in_a_row_is_the_same(void **state) {
    (void)state;
    uint8_t bytes[5000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 13 + 1);
    for (size_t size = 0; size <= sizeof bytes; size += 97)
        assert_int_equal(roce_crc_in_row(9, bytes, size), roce_crc(9, bytes, size));
}

static void the_crc_is_that_of_the_library(void **state) {
    (void)state;
    uint8_t bytes[1300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 3 ^ i * 29);
    for (size_t size = 0; size <= sizeof bytes - 16; size++) {
        const uint8_t *at = bytes + size % 16;
        const uint32_t start = (uint32_t)size * 0x9E3779B9U;
        assert_int_equal(roce_crc(start, at, size), libdeflate_crc32(start, at, size));
    }
}

static void the_residue_is_zero_over_a_right_checksum(void **state) {
    (void)state;
    uint8_t header[] = {0x45, 0x6a, 0x00, 0x30, 0x1a, 0x2e, 0x40, 0x00, 0x40, 0x11,
                        0x9c, 0xd1, 0xc0, 0xa8, 0x01, 0x01, 0xc0, 0xa8, 0x01, 0x02};
    assert_int_equal(roce_internet_residue(header, sizeof header, 0), 0);
    header[8]--;
    assert_int_equal(roce_internet_residue(header, sizeof header, 0), 0x0100);
    assert_int_equal(roce_internet_residue((const uint8_t[]){0xFF, 0xFE, 0x01}, 3, 0),
                     (uint16_t)~0x00FF);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_prefix_is_the_crc_of_eight_ones),
        cmocka_unit_test(a_difference_moves_past_bytes_of_any_number),
        cmocka_unit_test(a_difference_moves_by_every_power_of_two),
        cmocka_unit_test(a_crc_in_a_row_is_the_same),
        cmocka_unit_test(the_crc_is_that_of_the_library),
        cmocka_unit_test(the_residue_is_zero_over_a_right_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
