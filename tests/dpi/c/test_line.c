// SPDX-License-Identifier: BSD-2-Clause
//
// What a line does to frames, when they leave and come, and what it refuses.

#include "unit.h"

#include "common/frame.h"
#include "link/congestion.h"
#include "link/link.h"

#include <stdlib.h>

enum { BYTES = 76, AROUND = 24, FRAMES = 400 };
// 100 bytes of line at 8 Gb/s are 100 ns.
#define RATE "rate=8000000000"

// The other end: gives what is asked of it at once, and keeps what it is sent.
struct far {
    struct link link;
    unsigned left;
    unsigned given;
    unsigned got;
    uint8_t frames[2 * FRAMES][BYTES];
    bool is_busy;
};

static bool far_is_closed;

static void fill(uint8_t *frame, unsigned number) {
    memset(frame, 0x5A, BYTES);
    frame[0] = (uint8_t)number;
    frame[1] = (uint8_t)(number >> 8);
}

static enum link_result far_send(struct link *link, uint64_t cycle, const uint8_t *frame,
                                 size_t length, struct error *error) {
    struct far *far = (struct far *)link;
    (void)cycle, (void)error;
    if (far->is_busy) {
        return LINK_BUSY;
    }
    assert_int_equal(length, BYTES);
    memcpy(far->frames[far->got++], frame, length);
    return LINK_OK;
}

static enum link_result far_receive(struct link *link, uint64_t now_ns, uint8_t *frame,
                                    size_t *length, struct error *error) {
    struct far *far = (struct far *)link;
    (void)now_ns, (void)error;
    if (far->left == 0) {
        return LINK_BUSY;
    }
    far->left--;
    fill(frame, far->given++);
    *length = BYTES;
    return LINK_OK;
}

static uint64_t far_next_ns(const struct link *link) {
    return ((const struct far *)link)->left ? 0 : LINK_NEVER;
}

static void far_close(struct link *link) {
    far_is_closed = true;
    free(link);
}

static const struct link_ops far_ops = {
    .send = far_send,
    .receive = far_receive,
    .next_ns = far_next_ns,
    .count = link_count_nothing,
    .close = far_close,
};

static struct far *far_open(void) {
    struct far *far = calloc(1, sizeof *far);
    assert_non_null(far);
    far->link = (struct link){.ops = &far_ops, .kind = "far"};
    far_is_closed = false;
    return far;
}

static struct link *line_over(struct far *far, const char *words) {
    struct error error = {0};
    struct link *line = link_line_open(words, &far->link, &error);
    assert_string_equal(error.text, "");
    assert_non_null(line);
    return line;
}

static enum link_result ask(struct link *line, uint64_t now_ns, uint8_t *frame) {
    struct error error = {0};
    size_t length = 0;
    enum link_result result = line->ops->receive(line, now_ns, frame, &length, &error);
    assert_true(result != LINK_OK || length == BYTES);
    return result;
}

// How often the line has told each action of what was sent last, by its bit.
static unsigned told[6];

static unsigned told_of(enum link_action action) {
    return told[__builtin_ctz(action)];
}

static void send_frames(struct link *line, unsigned count) {
    struct error error = {0};
    uint8_t frame[BYTES];
    memset(told, 0, sizeof told);
    for (unsigned i = 0; i < count; i++) {
        fill(frame, i);
        assert_int_equal(line->ops->send(line, 0, frame, BYTES, &error), LINK_OK);
        for (unsigned bit = 0; bit < sizeof told / sizeof told[0]; bit++) {
            told[bit] += line->done >> bit & 1;
        }
    }
}

static unsigned number_of(const uint8_t *frame) {
    return frame[0] | (unsigned)frame[1] << 8;
}

static void frames_take_their_time_and_the_delay_each_way(void **state) {
    struct far *far = far_open();
    struct link *line = line_over(far, RATE ",delay=7000");
    uint8_t frame[FRAME_MAX];
    (void)state;
    far->left = 2;
    assert_int_equal(ask(line, 1000, frame), LINK_BUSY);
    assert_int_equal(line->ops->next_ns(line), 1000 + 100 + 7);
    assert_int_equal(ask(line, 1106, frame), LINK_BUSY);
    assert_int_equal(ask(line, 1107, frame), LINK_OK);
    assert_int_equal(number_of(frame), 0);
    assert_int_equal(line->ops->next_ns(line), 1207);
    assert_int_equal(ask(line, 1207, frame), LINK_OK);
    assert_true(line->ops->next_ns(line) == LINK_NEVER);

    send_frames(line, 2);
    assert_int_equal(ask(line, 1313, frame), LINK_BUSY);
    assert_int_equal(far->got, 0);
    assert_int_equal(ask(line, 1314, frame), LINK_BUSY);
    assert_int_equal(far->got, 1);
    far->is_busy = true;
    assert_int_equal(ask(line, 1500, frame), LINK_BUSY);
    assert_int_equal(far->got, 1);
    far->is_busy = false;
    assert_int_equal(ask(line, 1500, frame), LINK_BUSY);
    assert_int_equal(far->got, 2);
    line->ops->close(line);
    assert_true(far_is_closed);
}

static void what_finds_the_queue_full_is_dropped(void **state) {
    struct far *far = far_open();
    struct link *line = line_over(far, RATE ",buffer=250");
    uint8_t frame[FRAME_MAX];
    (void)state;
    send_frames(line, 5);
    (void)ask(line, 1000, frame);
    line->ops->count(line);
    assert_int_equal(far->got, 2);
    assert_int_equal(line->dropped_out, 3);
    assert_int_equal(told_of(LINK_DROPPED), 3);
    assert_int_equal(line->dropped_in, 0);
    line->ops->close(line);
}

// How many of FRAMES the far end has got, of which so many were out of turn, twice or changed.
struct seen {
    unsigned got;
    unsigned back;
    unsigned again;
    unsigned changed;
};

static struct seen played(const char *words, uint8_t frames[][BYTES]) {
    struct far *far = far_open();
    struct link *line = line_over(far, words);
    struct seen seen = {0};
    uint8_t right[BYTES];
    send_frames(line, FRAMES);
    (void)ask(line, 1000 * FRAMES, right);
    for (unsigned i = 0; i < far->got; i++) {
        fill(right, number_of(far->frames[i]));
        unsigned flipped = 0;
        for (unsigned at = 0; at < BYTES; at++) {
            unsigned wrong = right[at] ^ far->frames[i][at];
            assert_true(wrong == 0 || at >= 54);
            flipped += (unsigned)__builtin_popcount(wrong);
        }
        assert_true(flipped <= 1);
        seen.changed += flipped;
        if (i > 0) {
            unsigned before = number_of(far->frames[i - 1]);
            seen.back += number_of(far->frames[i]) < before;
            seen.again += number_of(far->frames[i]) == before;
        }
    }
    seen.got = far->got;
    memcpy(frames, far->frames, sizeof far->frames);
    line->ops->close(line);
    return seen;
}

static uint8_t one[2 * FRAMES][BYTES];
static uint8_t other[2 * FRAMES][BYTES];

static void what_goes_wrong_is_a_share_of_the_frames_by_seed(void **state) {
    (void)state;
    struct seen seen = played(RATE ",loss=250000000,seed=1", one);
    assert_in_range(seen.got, FRAMES * 6 / 10, FRAMES * 9 / 10);
    assert_int_equal(seen.back + seen.again + seen.changed, 0);
    assert_int_equal(told_of(LINK_LOST), FRAMES - seen.got);
    assert_int_equal(played(RATE ",loss=250000000,seed=1", other).got, seen.got);
    assert_memory_equal(one, other, sizeof one);
    (void)played(RATE ",loss=250000000,seed=2", other);
    assert_memory_not_equal(one, other, sizeof one);

    seen = played(RATE ",twice=250000000", one);
    assert_in_range(seen.again, FRAMES / 10, FRAMES * 4 / 10);
    assert_int_equal(seen.got, FRAMES + seen.again);
    assert_int_equal(told_of(LINK_TWICE), seen.again);

    seen = played(RATE ",swap=250000000", one);
    assert_in_range(seen.back, FRAMES / 10, FRAMES * 4 / 10);
    assert_in_range(told_of(LINK_LATE), seen.back, FRAMES * 4 / 10);
    assert_int_equal(seen.got, FRAMES);

    seen = played(RATE ",corrupt=250000000", one);
    assert_in_range(seen.changed, FRAMES / 10, FRAMES * 4 / 10);
    assert_int_equal(told_of(LINK_FLIPPED), seen.changed);
    assert_int_equal(seen.got, FRAMES);

    assert_int_equal(played("loss=1000000000", one).got, 0);
    assert_int_equal(played("", one).got, FRAMES);
}

enum { TAGS_MOST = 2, IPV4_BYTES = 20 };

static unsigned word_at(const uint8_t *bytes) {
    return (unsigned)bytes[0] << 8 | bytes[1];
}

// An IP header behind so many tags, with this ECN and, of IPv4, a checksum that is so far off;
// where it begins.
static uint8_t *packet(uint8_t *frame, bool is_ipv6, unsigned tags, unsigned ecn, unsigned off) {
    memset(frame, 0xA5, BYTES);
    for (unsigned i = 0; i < tags; i++) {
        memcpy(frame + 12 + 4 * i, (const uint8_t[]){0x81, 0}, 2);
    }
    uint8_t *ip = frame + 14 + 4 * tags;
    memcpy(ip - 2, is_ipv6 ? (const uint8_t[]){0x86, 0xDD} : (const uint8_t[]){8, 0}, 2);
    ip[0] = is_ipv6 ? 0x6F : 0x45;
    ip[1] = (uint8_t)(is_ipv6 ? 0xC5 | ecn << 4 : 0xFC | ecn);
    if (!is_ipv6) {
        memset(ip + 10, 0, 2);
        unsigned sum = off;
        for (unsigned at = 0; at < IPV4_BYTES; at += 2) {
            sum += word_at(ip + at);
        }
        sum = (sum & 0xFFFF) + (sum >> 16);
        sum = ((sum & 0xFFFF) + (sum >> 16)) ^ 0xFFFF;
        memcpy(ip + 10, (const uint8_t[]){(uint8_t)(sum >> 8), (uint8_t)sum}, 2);
    }
    return ip;
}

static void what_says_that_it_can_be_is_marked_behind_a_long_queue(void **state) {
    (void)state;
    for (unsigned n = 0; n < (TAGS_MOST + 1) * 2 * 4; n++) {
        unsigned ecn = n & 3, tags = n >> 3;
        bool is_ipv6 = n >> 2 & 1;
        struct far *far = far_open();
        struct link *line = line_over(far, RATE ",mark=200");
        struct error error = {0};
        uint8_t sent[FRAME_MAX];
        uint8_t marked[BYTES];
        (void)packet(marked, is_ipv6, tags, ecn == 0 ? 0 : 3, 0);
        (void)packet(sent, is_ipv6, tags, ecn, 0);
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(line->ops->send(line, 0, sent, BYTES, &error), LINK_OK);
            bool is_marked = i == 3 && (ecn == 1 || ecn == 2);
            assert_int_equal(line->done, is_marked ? LINK_MARKED : 0);
        }
        uint8_t unused[FRAME_MAX];
        (void)ask(line, 1000, unused);
        assert_int_equal(far->got, 4);
        for (unsigned i = 0; i < 4; i++) {
            assert_memory_equal(far->frames[i], i < 3 ? sent : marked, BYTES);
        }
        line->ops->close(line);
    }
}

static void a_mark_leaves_a_checksum_as_right_or_wrong_as_it_was(void **state) {
    uint8_t frame[BYTES];
    uint8_t marked[BYTES];
    (void)state;
    for (unsigned off = 0; off <= 0xFFFF; off++) {
        for (unsigned ecn = 1; ecn < 3; ecn++) {
            (void)packet(frame, false, 0, ecn, off);
            (void)packet(marked, false, 0, 3, off);
            assert_true(congestion_mark(frame, BYTES));
            assert_memory_equal(frame, marked, BYTES);
        }
    }
}

static void what_is_cut_or_no_ip_is_not_marked(void **state) {
    uint8_t frame[BYTES];
    uint8_t whole[BYTES];
    (void)state;
    for (unsigned is_ipv6 = 0; is_ipv6 < 2; is_ipv6++) {
        size_t header = is_ipv6 ? 40 : IPV4_BYTES;
        (void)packet(whole, is_ipv6, TAGS_MOST, 2, 0);
        for (size_t length = 0; length <= BYTES; length++) {
            uint8_t *cut = malloc(length);
            assert_true(cut || !length);
            memcpy(cut, whole, length);
            assert_int_equal(congestion_mark(cut, length), length >= 14 + 4 * TAGS_MOST + header);
            free(cut);
        }
    }
    packet(frame, false, 0, 2, 0)[-1] = 6;
    memcpy(whole, frame, BYTES);
    assert_false(congestion_mark(frame, BYTES));
    assert_memory_equal(frame, whole, BYTES);
}

static void what_was_done_to_a_frame_is_told_where_it_comes_in_words(void **state) {
    struct far *far = far_open();
    struct link *line = line_over(far, RATE ",twice=1000000000,corrupt=1000000000");
    uint8_t frame[FRAME_MAX];
    char text[LINK_COMMENT];
    (void)state;
    far->left = 1;
    (void)ask(line, 0, frame);
    for (unsigned copies = 0; copies < 2; copies++) {
        line->done = 0;
        assert_int_equal(ask(line, 1000, frame), LINK_OK);
        assert_int_equal(line->done, LINK_TWICE | LINK_FLIPPED);
    }
    line->ops->close(line);
    link_comment(LINK_TWICE | LINK_FLIPPED, text);
    assert_string_equal(text, "arrives twice; a bit flips on the line");
    link_comment(0, text);
    assert_string_equal(text, "");
    link_comment(0x3F, text);
    assert_in_range(strlen(text), 1, LINK_COMMENT - 2);
}

static void words_that_mean_nothing_are_refused_and_close_what_was_open(void **state) {
    static const char *const wrong[] = {"rate",
                                        "rate=",
                                        "rate=-1",
                                        "rate=8G",
                                        "speed=1",
                                        "rate=10",
                                        "loss=2e9",
                                        "buffer=100",
                                        "mark=100",
                                        "loss=1000000001",
                                        "delay=99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error error = {0};
        assert_null(link_line_open(wrong[i], &far_open()->link, &error));
        assert_true(error_is_set(&error) && far_is_closed);
    }
}

static void a_line_needs_a_link_of_frames_behind_it(void **state) {
    static const char *const wrong[] = {"line:rate=8000000000", "line:;lockstep",
                                        "line:;line:;pcap:none", "line:;pcap:/no/such/file"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error error = {0};
        assert_null(link_open(wrong[i], 0, NULL, false, &error));
        assert_true(error_is_set(&error));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_take_their_time_and_the_delay_each_way),
        cmocka_unit_test(what_finds_the_queue_full_is_dropped),
        cmocka_unit_test(what_goes_wrong_is_a_share_of_the_frames_by_seed),
        cmocka_unit_test(what_says_that_it_can_be_is_marked_behind_a_long_queue),
        cmocka_unit_test(a_mark_leaves_a_checksum_as_right_or_wrong_as_it_was),
        cmocka_unit_test(what_is_cut_or_no_ip_is_not_marked),
        cmocka_unit_test(what_was_done_to_a_frame_is_told_where_it_comes_in_words),
        cmocka_unit_test(words_that_mean_nothing_are_refused_and_close_what_was_open),
        cmocka_unit_test(a_line_needs_a_link_of_frames_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
