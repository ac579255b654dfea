// SPDX-License-Identifier: BSD-2-Clause
//
// ICRC verdicts on Ethernet frames: stateless, allocation-free and safe on any
// input. A frame counts as RoCEv2 once a UDP header with destination port 4791
// has been read directly behind IPv4 or IPv6, below any stack of VLAN tags;
// what contradicts itself after that point is malformed, the rest is not RoCE.

#ifndef ROCEPROOF_ICRC_H
#define ROCEPROOF_ICRC_H

#include <stddef.h>
#include <stdint.h>

enum roce_icrc_verdict {
    ROCE_ICRC_NOT_ROCE,
    ROCE_ICRC_MALFORMED,
    ROCE_ICRC_OK,
    ROCE_ICRC_BAD,
};

// Byte offsets of a located packet; `end` is the byte after its ICRC.
struct roce_layout {
    size_t ip;
    size_t udp;
    size_t end;
    uint8_t ip_version;
};

// Both values as they stand on the wire, byte for byte; set for OK and BAD only.
struct roce_icrc_result {
    enum roce_icrc_verdict verdict;
    uint8_t found[4];
    uint8_t computed[4];
};

// Find the packet in a frame without FCS. Returns ROCE_ICRC_NOT_ROCE,
// ROCE_ICRC_MALFORMED, or ROCE_ICRC_OK with *layout filled and every offset
// inside the frame.
enum roce_icrc_verdict roce_locate(const uint8_t *frame, size_t size, struct roce_layout *layout);

// The ICRC that a packet located in `frame` ought to carry, in wire order.
void roce_icrc_compute(const uint8_t *frame, const struct roce_layout *layout, uint8_t icrc[4]);

// Judge one frame.
struct roce_icrc_result roce_icrc_check(const uint8_t *frame, size_t size);

// The verdict as one word: "not-roce", "malformed", "ok" or "bad".
const char *roce_icrc_verdict_name(enum roce_icrc_verdict verdict);

#endif
