// SPDX-License-Identifier: BSD-2-Clause
//
// One simulation as the host sees it: the control channel, simulated time and
// the ports. In lockstep the simulation stands still inside session_poll until
// the host says how far to run; free-running it never waits for the host.

#ifndef ROCEPROOF_SESSION_H
#define ROCEPROOF_SESSION_H

#include "control/control.h"
#include "port/port.h"

#include <time.h>

enum {
    PORT_LIMIT = 16,
    POLL_OFTEN = 256,        // cycles between looks at a socket
    POLL_RARELY = 65536,     // cycles between looks whether the host still lives
    ALL_PORTS = 255,         // the port number of an error that belongs to none
    BACKLOG_LIMIT = 1 << 20, // bytes the host may be behind before completions wait
};

enum stop_reason {
    STOP_CYCLES = 0,
    STOP_FRAME = 1,
    STOP_COMPLETION = 2,
    STOP_FINISHED = 4, // the simulation ended by itself
};

struct session {
    struct control control;
    struct error error;
    bool lockstep;
    uint64_t seed;
    uint64_t limit; // free-running: the cycle to stand still at, 0: none
    uint64_t clock_ps;
    unsigned data_width;
    char comment[4096]; // of the captures

    unsigned port_count;
    struct port *ports;
    unsigned ports_configured;
    struct pcapng captures[PORT_LIMIT];
    unsigned capture_count;

    bool started;
    bool running; // lockstep
    bool ending;
    uint64_t run_end;
    unsigned until;  // stop_reason bits the host waits for
    unsigned events; // and those that have come
    struct timespec wall_start;
};

// Never NULL but without memory; the error is found at the first poll.
// Returns after the host has configured every port.
struct session *session_open(const char *control, int ports, int data_width, int64_t clock_ps);

// Cycles until the next poll is due, 0 to end the simulation, -1 on an error.
int64_t session_poll(struct session *session, uint64_t cycle);

// Tells the host as well.
const char *session_error(struct session *session);

// A frame left or a completion came: true when the host waits for that.
bool session_event(struct session *session, enum stop_reason event);

// The DUT took a frame or a record; told in lockstep only.
void session_put_taken(struct session *session, unsigned port, unsigned stream, uint64_t cycle);

// False when the host is too far behind to take another completion.
bool session_put_completion(struct session *session, unsigned port, uint64_t cycle,
                            const uint8_t record[COMPLETION_BYTES]);
bool session_put_event(struct session *session, enum message_type type, unsigned port,
                       uint64_t cycle, const uint8_t record[EVENT_BYTES]);

void session_close(struct session *session, uint64_t cycle);

// One message from the host; messages.c.
int session_dispatch(struct session *session, enum message_type type, struct cursor *body,
                     uint64_t cycle);
void session_send_stopped(struct session *session, uint64_t cycle, unsigned reason);

#endif
