// SPDX-License-Identifier: BSD-2-Clause
//
// Socket links over socket pairs: short writes, split reads, hostile lengths
// and peers that leave.

#include "unit.h"

#include "common/frame.h"
#include "link/link.h"

#include <stdio.h>

static struct link *adopt(int fd, struct error *error) {
    char text[32];
    struct control none = {.fd = -1};
    (void)snprintf(text, sizeof text, "fd:%d", fd);
    struct link *link = link_open(text, 0, &none, false, error);
    assert_non_null(link);
    return link;
}

static void stream_frame_arrives_however_it_is_split(void **state) {
    static const uint8_t wire[] = {0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 2, 'd', 'e'};
    struct pair pair = make_pair(SOCK_STREAM);
    struct error error = {0};
    struct link *link = adopt(pair.ours, &error);
    uint8_t frame[FRAME_MAX];
    size_t length = 0;
    unsigned frames = 0;
    (void)state;
    for (size_t i = 0; i < sizeof wire; i++) {
        assert_int_equal(write(pair.theirs, wire + i, 1), 1);
        enum link_result result = link->ops->receive(link, 0, frame, &length, &error);
        assert_int_equal(result, i == 6 || i == 12 ? LINK_OK : LINK_BUSY);
        frames += result == LINK_OK;
    }
    assert_int_equal(frames, 2);
    assert_int_equal(length, 2);
    assert_memory_equal(frame, "de", 2);
    link->ops->close(link);
    close(pair.theirs);
}

static void stream_refuses_hostile_lengths(void **state) {
    static const uint8_t lengths[][4] = {
        {0, 0, 0, 0}, {0, 0, 0x24, 1}, {0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct pair pair = make_pair(SOCK_STREAM);
        struct error error = {0};
        struct link *link = adopt(pair.ours, &error);
        uint8_t frame[FRAME_MAX];
        size_t length;
        assert_int_equal(write(pair.theirs, lengths[i], 4), 4);
        assert_int_equal(link->ops->receive(link, 0, frame, &length, &error), LINK_FAILED);
        assert_error(&error, "expected 1..9216");
        link->ops->close(link);
        close(pair.theirs);
    }
}

static void stream_is_busy_while_the_peer_does_not_read_and_splits_no_frame(void **state) {
    struct pair pair = make_pair(SOCK_STREAM);
    struct error error = {0};
    struct link *link = adopt(pair.ours, &error);
    uint8_t frame[FRAME_MAX];
    unsigned sent = 0, got = 0;
    size_t have = 0;
    static uint8_t read_back[1 << 22];
    (void)state;
    for (;;) {
        memset(frame, (int)sent, sizeof frame);
        enum link_result result = link->ops->send(link, 0, frame, sizeof frame, &error);
        assert_int_not_equal(result, LINK_FAILED);
        if (result == LINK_BUSY) {
            break;
        }
        sent++;
    }
    assert_true(sent > 2);
    while (got < sent) {
        ssize_t size = recv(pair.theirs, read_back + have, sizeof read_back - have, MSG_DONTWAIT);
        size_t unused;
        have += size > 0 ? (size_t)size : 0;
        assert_int_equal(link->ops->receive(link, 0, frame, &unused, &error), LINK_BUSY);
        for (; (got + 1) * (4 + FRAME_MAX) <= have; got++) {
            const uint8_t *at = read_back + got * (4 + FRAME_MAX);
            assert_int_equal(at[2] << 8 | at[3], FRAME_MAX);
            assert_int_equal(at[4], (uint8_t)got);
            assert_int_equal(at[3 + FRAME_MAX], (uint8_t)got);
        }
    }
    link->ops->close(link);
    close(pair.theirs);
}

static void stream_peer_that_leaves_is_an_error_both_ways(void **state) {
    (void)state;
    for (int sending = 0; sending < 2; sending++) {
        struct pair pair = make_pair(SOCK_STREAM);
        struct error error = {0};
        struct link *link = adopt(pair.ours, &error);
        uint8_t frame[FRAME_MAX] = {0};
        size_t length = FRAME_MIN;
        close(pair.theirs);
        enum link_result result = sending ? link->ops->send(link, 0, frame, length, &error)
                                          : link->ops->receive(link, 0, frame, &length, &error);
        assert_int_equal(result, LINK_FAILED);
        assert_error(&error, "the peer closed");
        link->ops->close(link);
    }
}

static void dgram_counts_frames_that_are_too_long(void **state) {
    struct pair pair = make_pair(SOCK_DGRAM);
    struct error error = {0};
    struct link *link = adopt(pair.ours, &error);
    static uint8_t big[FRAME_MAX + 1];
    uint8_t frame[FRAME_MAX];
    size_t length = 0;
    (void)state;
    assert_int_equal(write(pair.theirs, big, sizeof big), sizeof big);
    assert_int_equal(write(pair.theirs, big, FRAME_MAX), FRAME_MAX);
    assert_int_equal(link->ops->receive(link, 0, frame, &length, &error), LINK_OK);
    assert_int_equal(length, FRAME_MAX);
    assert_int_equal(link->dropped_in, 1);
    assert_int_equal(link->ops->receive(link, 0, frame, &length, &error), LINK_BUSY);
    link->ops->close(link);
    close(pair.theirs);
}

static void dgram_peer_that_leaves_is_an_error(void **state) {
    struct pair pair = make_pair(SOCK_DGRAM);
    struct error error = {0};
    struct link *link = adopt(pair.ours, &error);
    uint8_t frame[FRAME_MIN] = {0};
    (void)state;
    assert_int_equal(link->ops->send(link, 0, frame, sizeof frame, &error), LINK_OK);
    close(pair.theirs);
    assert_int_equal(link->ops->send(link, 0, frame, sizeof frame, &error), LINK_FAILED);
    assert_error(&error, "the peer closed its socket");
    link->ops->close(link);
}

static void dgram_waits_for_a_peer_that_has_not_come_yet(void **state) {
    struct error error = {0};
    struct link *link =
        link_dgram_open("/tmp/roceproof-unit-a", "/tmp/roceproof-unit-none", &error);
    uint8_t frame[FRAME_MIN] = {0};
    (void)state;
    assert_non_null(link);
    assert_int_equal(link->ops->send(link, 0, frame, sizeof frame, &error), LINK_BUSY);
    link->ops->close(link);
    assert_int_equal(access("/tmp/roceproof-unit-a", F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_frame_arrives_however_it_is_split),
        cmocka_unit_test(stream_refuses_hostile_lengths),
        cmocka_unit_test(stream_is_busy_while_the_peer_does_not_read_and_splits_no_frame),
        cmocka_unit_test(stream_peer_that_leaves_is_an_error_both_ways),
        cmocka_unit_test(dgram_counts_frames_that_are_too_long),
        cmocka_unit_test(dgram_peer_that_leaves_is_an_error),
        cmocka_unit_test(dgram_waits_for_a_peer_that_has_not_come_yet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
