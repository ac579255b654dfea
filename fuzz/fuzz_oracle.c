// SPDX-License-Identifier: BSD-2-Clause
//
// Dissector and rules on any sequence of frames. The input is a list of frames, each
// behind a head of three bytes: length, low byte first (11 bits; then the lowest bit of
// the interface), and how to present it. With REPAIR a frame that is in agreement with
// itself gets a right ICRC, so that the fuzzer reaches the rules that believe packets. What an
// inspector says of a frame behind others is what is said of it alone.

#include <string.h>

#include "oracle/oracle.h"
#include "packet/inspector.h"
#include "target.h"

enum { HEAD_BYTES = 3, MOST_FRAMES = 512, LENGTH = 0x7FF };
enum { REPAIR = 1, CUT = 2, FCS = 4, LATE = 8 };

struct watch {
    uint64_t frame;
    uint64_t findings;
    struct roce_inspector *inspector;
};

static void look(void *context, const struct roce_finding *finding) {
    struct watch *watch = context;
    demand(finding->frame >= 1 && finding->frame <= watch->frame);
    demand(finding->rule < RULE_COUNT && finding->severity <= ROCE_INFO);
    demand(finding->expected != NULL && finding->got != NULL);
    watch->findings++;
}

static void repair(uint8_t *frame, const struct roce_record *record) {
    struct roce_packet packet;
    roce_inspect(record, &packet);
    if (packet.verdict != ROCE_BAD || (packet.class != ROCE_V1 && packet.class != ROCE_V2))
        return;
    for (uint32_t i = 0; i < ROCE_ICRC_BYTES; i++)
        frame[packet.end - ROCE_ICRC_BYTES + i] = (uint8_t)(packet.right >> 8 * i);
}

static void present(struct roce_oracle *oracle, struct watch *watch, const uint8_t *bytes,
                    uint32_t size, uint32_t interface, uint8_t how) {
    // A block of its own, so that a byte read too far is seen.
    uint8_t *frame = malloc(size ? size : 1);
    demand(frame != NULL);
    memcpy(frame, bytes, size);
    struct roce_record record = {
        .data = frame,
        .number = ++watch->frame,
        .time_ns = watch->frame * (how & LATE ? 1000000 : 100),
        .size = size,
        .full_size = how & CUT ? size + 40 : size,
        .interface = interface,
        .fcs_bytes = how & FCS ? 4 : 0,
        .is_ethernet = 1,
    };
    if (how & REPAIR)
        repair(frame, &record);
    struct roce_packet packet, alone;
    roce_inspect_next(watch->inspector, &record, &packet);
    roce_inspect(&record, &alone);
    alone.look = packet.look;
    demand(memcmp(&packet, &alone, sizeof packet) == 0);
    demand(packet.size <= size && packet.size <= packet.full_size);
    roce_judge(oracle, &record, &packet);
    free(frame);
}

static const struct roce_fact FACT = {
    .service = ROCE_RC,
    .address = {{10, 0, 0, 1}, 4},
    .remote_address = {{10, 0, 0, 2}, 4},
    .qpn = 1,
    .remote_qpn = 2,
    .start_psn = 0,
    .remote_start_psn = 0xFFFFFF,
    .path_mtu = 256,
    .dscp = 0,
    .ttl = 64,
    .min_rnr_timer = 1,
    .credits = 0,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct watch watch = {.inspector = roce_inspector_create(0)};
    struct roce_fact row = FACT;
    const struct roce_facts facts = {.mtu = 1500, .count = 1, .rows = &row};
    struct roce_oracle *oracle = roce_oracle_create(size & 1 ? &facts : NULL, look, &watch);
    demand(oracle != NULL);
    while (size >= HEAD_BYTES && watch.frame < MOST_FRAMES) {
        const uint32_t word = data[0] | (uint32_t)data[1] << 8;
        const uint8_t how = data[2];
        const uint32_t wanted = word & LENGTH;
        data += HEAD_BYTES;
        size -= HEAD_BYTES;
        const uint32_t bytes = wanted < size ? wanted : (uint32_t)size;
        present(oracle, &watch, data, bytes, word >> 11 & 1, how);
        data += bytes;
        size -= bytes;
    }
    roce_finish(oracle);
    const struct roce_totals *totals = roce_oracle_totals(oracle);
    demand(totals->frames == watch.frame);
    demand(totals->icrc[0] + totals->icrc[1] + totals->icrc[2] == totals->roce_frames);
    demand(totals->severities[0] + totals->severities[1] + totals->severities[2] == watch.findings);
    roce_oracle_destroy(oracle);
    roce_inspector_destroy(watch.inspector);
    return 0;
}
