// SPDX-License-Identifier: BSD-2-Clause
//
// The capture writer, read back block by block.

#include "unit.h"

#include "port/pcapng.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static char path[] = "/tmp/roceproof-unit-XXXXXX";

static int create(void **state) {
    int fd = mkstemp(path);
    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static uint32_t word(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static size_t slurp(uint8_t *bytes, size_t capacity) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, capacity, file);
    fclose(file);
    return size;
}

static void every_block_is_padded_and_framed_by_its_length(void **state) {
    static uint8_t bytes[1 << 20];
    static const uint8_t frame[300];
    struct pcapng file;
    struct error error = {0};
    (void)state;
    assert_int_equal(pcapng_open(&file, path, "a comment", &error), 0);
    assert_int_equal(pcapng_interface(&file, "port0", "one", &error), 0);
    assert_int_equal(pcapng_interface(&file, "port1", "another", &error), 0);
    for (size_t length = 1; length <= sizeof frame; length++) {
        assert_int_equal(pcapng_packet(&file, length % 2, PCAPNG_INBOUND, false, length << 31,
                                       frame, length, "", &error),
                         0);
    }
    pcapng_close(&file);
    size_t size = slurp(bytes, sizeof bytes);
    unsigned blocks = 0;
    for (size_t at = 0; at < size; blocks++) {
        uint32_t length = word(bytes + at + 4);
        assert_int_equal(length % 4, 0);
        assert_true(at + length <= size);
        assert_int_equal(word(bytes + at + length - 4), length);
        if (blocks >= 3) {
            assert_int_equal(word(bytes + at), 6);
            uint64_t time = (uint64_t)word(bytes + at + 12) << 32 | word(bytes + at + 16);
            assert_int_equal(time, (uint64_t)(blocks - 2) << 31);
            assert_int_equal(word(bytes + at + 24), blocks - 2);
        }
        at += length;
    }
    assert_int_equal(blocks, 303);
}

static void discarded_frame_has_the_crc_error_flag(void **state) {
    uint8_t bytes[4096];
    static const uint8_t frame[60];
    struct pcapng file;
    struct error error = {0};
    (void)state;
    assert_int_equal(pcapng_open(&file, path, "", &error), 0);
    assert_int_equal(pcapng_interface(&file, "port0", "", &error), 0);
    assert_int_equal(
        pcapng_packet(&file, 0, PCAPNG_OUTBOUND, true, 0, frame, sizeof frame, "", &error), 0);
    pcapng_close(&file);
    size_t size = slurp(bytes, sizeof bytes);
    assert_int_equal(word(bytes + size - 12), 2u | 1u << 24);
}

static void a_comment_stands_in_its_own_option_and_none_where_it_is_empty(void **state) {
    uint8_t bytes[4096];
    static const uint8_t frame[60];
    size_t sizes[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct pcapng file;
        struct error error = {0};
        assert_int_equal(pcapng_open(&file, path, "", &error), 0);
        assert_int_equal(pcapng_interface(&file, "port0", "", &error), 0);
        assert_int_equal(pcapng_packet(&file, 0, PCAPNG_INBOUND, false, 0, frame, sizeof frame,
                                       i ? "lost" : "", &error),
                         0);
        pcapng_close(&file);
        sizes[i] = slurp(bytes, sizeof bytes);
    }
    assert_int_equal(sizes[1] - sizes[0], 8);
    assert_int_equal(word(bytes + sizes[1] - 24), 1u | 4u << 16);
    assert_memory_equal(bytes + sizes[1] - 20, "lost", 4);
}

static void unwritable_path_is_an_error_with_its_name(void **state) {
    struct pcapng file;
    struct error error = {0};
    (void)state;
    assert_int_equal(pcapng_open(&file, "/nonexistent/x.pcapng", "", &error), -1);
    assert_error(&error, "capture /nonexistent/x.pcapng: No such file");
    pcapng_close(&file);
}

static void full_disk_is_an_error(void **state) {
    struct pcapng file;
    struct error error = {0};
    (void)state;
    assert_int_equal(pcapng_open(&file, "/dev/full", "", &error), -1);
    assert_error(&error, "No space left");
    pcapng_close(&file);
}

static void a_block_that_does_not_fit_is_taken_back(void **state) {
    static const uint8_t frame[1000];
    uint8_t bytes[4096];
    struct pcapng file;
    struct error error = {0};
    struct rlimit before;
    (void)state;
    assert_int_equal(pcapng_open(&file, path, "", &error), 0);
    assert_int_equal(pcapng_interface(&file, "port0", "", &error), 0);
    size_t whole = slurp(bytes, sizeof bytes);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit tight = {.rlim_cur = whole + 500, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    int result = pcapng_packet(&file, 0, PCAPNG_INBOUND, false, 0, frame, sizeof frame, "", &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(result, -1);
    assert_error(&error, "no space left for a whole block");
    assert_int_equal(slurp(bytes, sizeof bytes), whole);
    pcapng_close(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_is_padded_and_framed_by_its_length),
        cmocka_unit_test(discarded_frame_has_the_crc_error_flag),
        cmocka_unit_test(a_comment_stands_in_its_own_option_and_none_where_it_is_empty),
        cmocka_unit_test(unwritable_path_is_an_error_with_its_name),
        cmocka_unit_test(full_disk_is_an_error),
        cmocka_unit_test(a_block_that_does_not_fit_is_taken_back),
    };
    return cmocka_run_group_tests(tests, create, remove_file);
}
