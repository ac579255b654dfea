// SPDX-License-Identifier: BSD-2-Clause
//
// A session against a host that lies: every message cut at every length, and
// random bytes. Nothing may be read or written where it should not, and every
// session that goes on must have understood its message whole.

#include "unit.h"

#include "session/session.h"
#include "session/streams.h"

#include <stdio.h>
#include <stdlib.h>

static void give_setup(struct buffer *out) {
    static const uint8_t zeros[32];
    struct builder b = message_begin(out, MESSAGE_SESSION);
    give_u8(&b, 0);
    give_u64(&b, 1);
    give_u64(&b, 0);
    give_string(&b, "comment");
    message_end(&b);
    b = message_begin(out, MESSAGE_PORT);
    give_u8(&b, 0);
    give_bytes(&b, zeros, 6 + 16 + FLOWS);
    give_string(&b, "lockstep");
    give_string(&b, "");
    message_end(&b);
    b = message_begin(out, MESSAGE_START);
    message_end(&b);
}

// A session that has been told all of `bytes` and then lost its host.
static struct session *open_with(const struct buffer *bytes) {
    struct pair pair = make_pair(SOCK_STREAM);
    char text[16];
    int size = 1 << 20;
    (void)setsockopt(pair.theirs, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    assert_int_equal(write(pair.theirs, buffer_front(bytes), buffer_size(bytes)),
                     (ssize_t)buffer_size(bytes));
    close(pair.theirs);
    (void)snprintf(text, sizeof text, "fd:%d", pair.ours);
    struct session *session = session_open(text, 1, 64, 6400);
    assert_non_null(session);
    return session;
}

static size_t message_of(struct buffer *out, enum message_type type, size_t body) {
    static const uint8_t zeros[256];
    struct builder b = message_begin(out, type);
    give_bytes(&b, zeros, body);
    message_end(&b);
    return body;
}

static void every_message_cut_short_is_refused(void **state) {
    static const struct {
        enum message_type type;
        size_t body; // the shortest that is right when filled with zeros
    } messages[] = {
        {MESSAGE_FLOW, 1 + FLOWS},
        {MESSAGE_QPC, 1 + QPC_BYTES},
        {MESSAGE_WORK_REQUEST, 1 + 1 + 2 + 8 + 8 + WORK_REQUEST_BYTES},
        {MESSAGE_FRAME, 3},
        {MESSAGE_REGION, 1 + REGION_BYTES},
        {MESSAGE_RECEIVE, 1 + RECEIVE_BYTES},
        {MESSAGE_PEEK, 1 + 8 + 4},
        {MESSAGE_POKE, 1 + 8},
        {MESSAGE_STOP, 0},
        {MESSAGE_QUERY, 0},
    };
    (void)state;
    for (size_t m = 0; m < sizeof messages / sizeof messages[0]; m++) {
        for (size_t body = 0; body <= messages[m].body; body++) {
            struct buffer bytes = {0};
            give_setup(&bytes);
            message_of(&bytes, messages[m].type, body);
            struct session *session = open_with(&bytes);
            int64_t expected = body == messages[m].body ? 0 : -1;
            if (session_poll(session, 0) != expected) {
                fail_msg("message 0x%02x with %zu bytes: %s", messages[m].type, body,
                         session->error.text);
            }
            session_close(session, 0);
            buffer_free(&bytes);
        }
    }
}

static void setup_cut_anywhere_ends_quietly(void **state) {
    struct buffer whole = {0};
    (void)state;
    give_setup(&whole);
    for (size_t size = 0; size <= buffer_size(&whole); size++) {
        struct buffer bytes = whole;
        bytes.end = bytes.start + size;
        struct session *session = open_with(&bytes);
        assert_int_equal(session_poll(session, 0), 0);
        session_close(session, 0);
    }
    buffer_free(&whole);
}

static void only_setup_is_understood_before_start(void **state) {
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        struct buffer bytes = {0};
        if (type == MESSAGE_SESSION || type == MESSAGE_PORT || type == MESSAGE_STOP) {
            continue;
        }
        message_of(&bytes, (enum message_type)type, 0);
        struct session *session = open_with(&bytes);
        assert_int_equal(session_poll(session, 0), -1);
        session_close(session, 0);
        buffer_free(&bytes);
    }
}

static void random_messages_are_survived(void **state) {
    uint32_t random = 1;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct buffer bytes = {0};
        give_setup(&bytes);
        for (int i = 0; i < 6; i++) {
            static const uint8_t types[] = {0x10, 0x11, 0x12, 0x13, 0x16};
            uint8_t body[80];
            for (size_t at = 0; at < sizeof body; at++) {
                random = random * 1664525u + 1013904223u;
                body[at] = random & 1u << 20 ? 0 : (uint8_t)(random >> 24);
            }
            struct builder b = message_begin(&bytes, (enum message_type)types[random >> 8 & 3]);
            give_u8(&b, 0);
            give_bytes(&b, body, body[0] % sizeof body);
            message_end(&b);
        }
        struct session *session = open_with(&bytes);
        assert_true(session_poll(session, 0) <= 0);
        struct chunk chunk;
        uint8_t record[QPC_BYTES];
        struct port *port = &session->ports[0];
        while (port_get_qpc(port, 0, record)) {
        }
        while (port_get_work_request(port, 0, record)) {
        }
        for (int i = 0; i < 100; i++) {
            (void)port_get_chunk(port, STREAM_RX, 0, &chunk);
            (void)port_get_chunk(port, STREAM_PAYLOAD, 0, &chunk);
        }
        session_close(session, 0);
        buffer_free(&bytes);
    }
}

static void control_channel_must_be_a_socket(void **state) {
    static const char *const texts[] = {"", "fd:", "fd:x", "fd:-1", "fd:99999", "file", "fd:0x"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct session *session = session_open(texts[i], 1, 64, 6400);
        assert_int_equal(session_poll(session, 0), -1);
        assert_error(&session->error, "control channel");
        session_close(session, 0);
    }
}

static void work_request_waits_for_the_configuration_before_it(void **state) {
    struct buffer bytes = {0};
    uint8_t record[QPC_BYTES];
    (void)state;
    give_setup(&bytes);
    message_of(&bytes, MESSAGE_QPC, 1 + QPC_BYTES);
    message_of(&bytes, MESSAGE_WORK_REQUEST, 1 + 1 + 2 + 8 + 8 + WORK_REQUEST_BYTES);
    struct session *session = open_with(&bytes);
    assert_int_equal(session_poll(session, 0), 0);
    struct port *port = &session->ports[0];
    assert_false(port_get_work_request(port, 0, record));
    assert_true(port_get_qpc(port, 0, record));
    assert_false(port_get_work_request(port, 0, record));
    assert_false(port_get_qpc(port, 0, record)); // asking again: it was taken
    assert_true(port_get_work_request(port, 0, record));
    session_close(session, 0);
    buffer_free(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_cut_short_is_refused),
        cmocka_unit_test(setup_cut_anywhere_ends_quietly),
        cmocka_unit_test(only_setup_is_understood_before_start),
        cmocka_unit_test(random_messages_are_survived),
        cmocka_unit_test(control_channel_must_be_a_socket),
        cmocka_unit_test(work_request_waits_for_the_configuration_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
