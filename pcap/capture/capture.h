// SPDX-License-Identifier: BSD-2-Clause
//
// Reads captures: pcap and pcapng in either byte order, micro- and nanoseconds,
// several interfaces and sections, gzip, stdin, and live interfaces through
// libpcap. A plain file is mapped and its packets are handed out where they lie;
// what comes through a pipe or out of gzip lies in buffers until released. Any
// input is safe: what cannot be read on ends the capture with a text, after all
// packets before it have been handed out. Texts are one line and leave out the
// file's name, which the caller knows.
//
// One thing a library cannot catch: another process cutting a mapped file short
// inside the few MiB being read, or a disk that fails there. That raises SIGBUS, for
// which a program installs its own handler; a file cut anywhere else ends in
// ROCE_CAPTURE_ERROR.

#ifndef ROCEPROOF_CAPTURE_H
#define ROCEPROOF_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

struct roce_capture; // opaque

// One packet. `data` stays valid until `roce_capture_release` has been told of this packet or a
// later one.
struct roce_record {
    const uint8_t *data;
    uint64_t time_ns;    // since the epoch, or of simulated time
    uint64_t number;     // counted from 1 over the file, as in Wireshark
    uint32_t size;       // bytes captured
    uint32_t full_size;  // bytes on the wire, at least `size`
    uint32_t interface;  // counted from 0 over the file
    uint8_t fcs_bytes;   // declared FCS at the end of the original frame, 0 if none
    uint8_t is_ethernet; // 0: of another link type, not to be judged
};

enum roce_capture_status {
    ROCE_CAPTURE_PACKET,
    ROCE_CAPTURE_END,
    ROCE_CAPTURE_ERROR, // damaged from here on; `roce_capture_error` says what and where
};

// Open a file, "-" for stdin. On failure returns NULL and writes one line into `error`.
struct roce_capture *roce_capture_open(const char *path, char *error, size_t error_bytes);

// Open a live interface until `roce_capture_stop`. As above.
struct roce_capture *roce_capture_open_live(const char *interface, char *error, size_t error_bytes);

// Open a capture that lies in memory and stays there until close. As above.
struct roce_capture *roce_capture_open_memory(const uint8_t *bytes, size_t size, char *error,
                                              size_t error_bytes);

// The next packet. A live capture waits for it.
enum roce_capture_status roce_capture_next(struct roce_capture *capture,
                                           struct roce_record *record);

// The same, and packets behind it that are at hand: `most` in all, of which it tells the `count`.
enum roce_capture_status roce_capture_next_few(struct roce_capture *capture,
                                               struct roce_record *records, unsigned int most,
                                               unsigned int *count);

// Packets up to and including that number are no longer needed: buffers are reused, and pages of
// the mapping are given back, so that resident memory stays flat on files of any size.
void roce_capture_release(struct roce_capture *capture, uint64_t number);

// Bytes of input consumed and their total (0 if unknown), for progress.
void roce_capture_position(const struct roce_capture *capture, uint64_t *consumed, uint64_t *total);

// Ask a live capture to end; safe in a signal handler, and nothing for other captures.
void roce_capture_stop(struct roce_capture *capture);

// The text behind ROCE_CAPTURE_ERROR; empty before one.
const char *roce_capture_error(const struct roce_capture *capture);

void roce_capture_close(struct roce_capture *capture);

#endif
