// SPDX-License-Identifier: BSD-2-Clause
//
// Buffers, queues, messages and payloads.

#include "unit.h"

#include "common/buffer.h"
#include "common/queue.h"
#include "control/message.h"
#include "port/payload.h"

static void queue_keeps_order_across_growth_and_wrap(void **state) {
    struct queue q;
    unsigned in = 0, out = 0;
    (void)state;
    queue_init(&q, sizeof in, 50);
    for (int round = 0; round < 20; round++) {
        while (queue_push(&q, &in)) {
            in++;
        }
        assert_int_equal(q.size, 50);
        for (int i = 0; i < 33; i++, out++) {
            assert_int_equal(*(unsigned *)queue_front(&q), out);
            queue_pop(&q);
        }
    }
    queue_free(&q);
    assert_null(queue_front(&q));
}

static void buffer_gives_back_what_it_took(void **state) {
    struct buffer b = {0};
    uint8_t in = 0, out = 0;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        for (int i = 0; i < 7; i++, in++) {
            assert_true(buffer_append(&b, &in, 1));
        }
        for (int i = 0; i < 5; i++, out++) {
            assert_int_equal(*buffer_front(&b), out);
            buffer_consume(&b, 1);
        }
    }
    assert_int_equal(buffer_size(&b), 6000);
    buffer_free(&b);
}

static void cursor_never_reads_past_its_message(void **state) {
    static const uint8_t bytes[] = {0x34, 0x12, 3, 0, 'a', 'b'};
    (void)state;
    for (size_t length = 0; length <= sizeof bytes; length++) {
        struct cursor c = {.data = bytes, .left = length};
        char text[8];
        (void)take_u16(&c);
        take_string(&c, text, sizeof text);
        assert_false(take_done(&c));
        assert_true(c.bad);
        assert_int_equal(take_u64(&c), 0);
    }
}

static void cursor_refuses_strings_that_do_not_fit(void **state) {
    static const uint8_t bytes[] = {4, 0, 'a', 'b', 'c', 'd'};
    static const uint8_t with_nul[] = {3, 0, 'a', 0, 'c'};
    char text[4];
    struct cursor c = {.data = bytes, .left = sizeof bytes};
    (void)state;
    take_string(&c, text, sizeof text);
    assert_true(c.bad);
    c = (struct cursor){.data = with_nul, .left = sizeof with_nul};
    take_string(&c, text, sizeof text);
    assert_true(c.bad);
}

static void message_begins_with_its_length(void **state) {
    static const uint8_t expected[] = {16, 0, 0, 0, 0x81, 1, 2, 0, 3, 0,
                                       0,  0, 4, 0, 0,    0, 0, 0, 0, 0};
    struct buffer out = {0};
    struct builder b = message_begin(&out, MESSAGE_HELLO);
    (void)state;
    give_u8(&b, 1);
    give_u16(&b, 2);
    give_u32(&b, 3);
    give_u64(&b, 4);
    assert_false(b.bad);
    assert_true(message_end(&b));
    assert_int_equal(buffer_size(&out), sizeof expected);
    assert_memory_equal(buffer_front(&out), expected, sizeof expected);
    buffer_free(&out);
}

static void pattern_is_its_formula_at_any_position(void **state) {
    uint8_t whole[64], part[64];
    (void)state;
    payload_pattern(5, 0, whole, sizeof whole);
    for (unsigned k = 0; k < 8; k++) {
        uint64_t word = 5 * UINT64_C(0x9E3779B97F4A7C15) / 2 + k * UINT64_C(0x9E3779B1);
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal(whole[8 * k + i], (uint8_t)(word >> 8 * i));
        }
    }
    for (size_t start = 0; start < sizeof whole; start++) {
        payload_pattern(5, start, part, sizeof whole - start);
        assert_memory_equal(part, whole + start, sizeof whole - start);
    }
}

static void payload_is_cut_at_chunk_ends(void **state) {
    (void)state;
    for (unsigned offset = 0; offset < CHUNK_BYTES; offset += 7) {
        for (uint64_t length = 1; length < 300; length += 13) {
            struct payload payload = {.seed = 1, .length = length, .offset = offset};
            uint64_t total = 0;
            struct payload_chunk chunk;
            do {
                uint8_t bytes[CHUNK_BYTES];
                chunk = payload_next(&payload, bytes);
                assert_int_equal(chunk.first, total ? 0 : offset);
                assert_true(chunk.stop > chunk.first && chunk.stop <= CHUNK_BYTES);
                total += chunk.stop - chunk.first;
            } while (!chunk.last);
            assert_int_equal(total, length);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_keeps_order_across_growth_and_wrap),
        cmocka_unit_test(buffer_gives_back_what_it_took),
        cmocka_unit_test(cursor_never_reads_past_its_message),
        cmocka_unit_test(cursor_refuses_strings_that_do_not_fit),
        cmocka_unit_test(message_begins_with_its_length),
        cmocka_unit_test(pattern_is_its_formula_at_any_position),
        cmocka_unit_test(payload_is_cut_at_chunk_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
