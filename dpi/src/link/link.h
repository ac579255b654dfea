// SPDX-License-Identifier: BSD-2-Clause
//
// Where a port's frames go to and come from. A link never waits: what cannot
// be done now is LINK_BUSY or no frame, and is tried again at a later poll.
// Sending and receiving are independent of each other.

#ifndef ROCEPROOF_LINK_H
#define ROCEPROOF_LINK_H

#include "common/error.h"
#include "control/control.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum link_result {
    LINK_FAILED = -1, // the struct error says why
    LINK_BUSY = 0,
    LINK_OK = 1,
};

#define LINK_NEVER UINT64_MAX

struct link;

struct link_ops {
    // Takes a whole frame or, when busy, nothing of it.
    enum link_result (*send)(struct link *link, uint64_t cycle, const uint8_t *frame, size_t length,
                             struct error *error);
    // Fills in one frame of up to FRAME_MAX bytes; LINK_BUSY when there is none.
    enum link_result (*receive)(struct link *link, uint64_t now_ns, uint8_t *frame, size_t *length,
                                struct error *error);
    // Simulated time of the next frame to receive; 0 when only asking can tell.
    uint64_t (*next_ns)(const struct link *link);
    // Reads counters that others keep into `dropped_in` and `dropped_out`.
    void (*count)(struct link *link);
    void (*close)(struct link *link);
};

// What a line has done to a frame.
enum link_action {
    LINK_DROPPED = 1,
    LINK_LOST = 2,
    LINK_TWICE = 4,
    LINK_LATE = 8,
    LINK_FLIPPED = 16,
    LINK_MARKED = 32,
};

enum { LINK_COMMENT = 160 };

struct link {
    const struct link_ops *ops;
    const char *kind;
    uint64_t dropped_in;
    uint64_t dropped_out;
    unsigned done; // of link_action, to the frame that it took or gave last
};

// Opens what `text` names; NULL after an error.
//   lockstep             frames travel over the control channel
//   socket:PATH          stream of frames with a 4-byte length, connects to a listener
//   socket-listen:PATH   the same, waits for the peer
//   dgram:LOCAL,REMOTE   one frame per datagram
//   fd:N                 either kind, on an inherited socket
//   tap:NAME             an existing TAP device
//   pcap:FILE            received frames from a capture, at its pace in simulated time
//   pcap:FILE,back-to-back
//   line:WORDS;LINK      any of these but lockstep, behind a line (link_line_open)
struct link *link_open(const char *text, unsigned port, struct control *control, bool lockstep,
                       struct error *error);

struct link *link_lockstep_open(unsigned port, struct control *control, bool lockstep,
                                struct error *error);
struct link *link_stream_connect(const char *path, struct error *error);
struct link *link_stream_listen(const char *path, struct error *error);
struct link *link_stream_adopt(int fd, struct error *error);
struct link *link_dgram_open(const char *local, const char *remote, struct error *error);
struct link *link_dgram_adopt(int fd, struct error *error);
struct link *link_tap_open(const char *name, struct error *error);
struct link *link_pcap_open(const char *path, bool back_to_back, struct error *error);

// WORDS are rate=, delay=, buffer=, mark=, loss=, twice=, swap=, corrupt= and seed=
// with numbers, between commas; each may be left out. Closes `inner` in any case.
struct link *link_line_open(const char *words, struct link *inner, struct error *error);

// Such actions in words, for a capture; empty for none.
void link_comment(unsigned done, char text[LINK_COMMENT]);

// For links whose drops nobody else counts.
void link_count_nothing(struct link *link);
// For links whose next frame only asking can tell.
uint64_t link_next_unknown(const struct link *link);

#endif
