// SPDX-License-Identifier: BSD-2-Clause
//
// Writes a capture of faultless traffic to measure checkers with, always the
// same bytes: `large` is 1 GiB of RC and UC WRITE messages of 16 packets with
// 4096 bytes each, `middle` the same with 1024 bytes each, `small` is 2 million
// packets, WRITE ONLY with 64 bytes but for the ACKs. Eight flows take turns,
// two of them on IPv6.

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packet/packet.h"

enum {
    FLOWS = 8,
    ETHERNET_BYTES = 14,
    UDP_BYTES = 8,
    BTH_BYTES = 12,
    RETH_BYTES = 16,
    AETH_BYTES = 4,
    ICRC_BYTES = 4,
    ROCE_PORT = 4791,
    UC = 0x20, // the service bits of an opcode; RC is 0
    WRITE_FIRST = 6,
    WRITE_MIDDLE = 7,
    WRITE_LAST = 8,
    WRITE_ONLY = 10,
    ACKNOWLEDGE = 17,
    MESSAGES_AN_ACK = 16, // of single packets; longer messages ask each for one
    POSITIVE_WITHOUT_CREDITS = 0x1F,
    PACKET_NS = 333, // apart
};

struct shape {
    const char *name;
    uint32_t payload_bytes;
    uint32_t message_packets;
    uint64_t least_bytes; // 0: packets count
    uint64_t least_packets;
};

struct flow {
    uint32_t index;
    uint32_t psn;
    uint32_t messages;
    uint32_t packet; // of the message
    uint16_t ip_id[2];
};

struct writer {
    FILE *file;
    uint64_t bytes;
    uint64_t packets;
    uint64_t random;
};

// One packet as it is being put together.
struct frame {
    uint8_t bytes[ETHERNET_BYTES + 40 + UDP_BYTES + BTH_BYTES + RETH_BYTES + 4096 + ICRC_BYTES];
    size_t size;
};

static uint8_t *append(struct frame *frame, size_t bytes) {
    uint8_t *at = frame->bytes + frame->size;
    frame->size += bytes;
    return at;
}

static void append_u16(struct frame *frame, uint32_t value) {
    memcpy(append(frame, 2), &(uint16_t){htobe16((uint16_t)value)}, 2);
}

static void append_u32(struct frame *frame, uint32_t value) {
    memcpy(append(frame, 4), &(uint32_t){htobe32(value)}, 4);
}

static bool is_ipv6(const struct flow *flow) {
    return flow->index % 4 == 3;
}

static bool is_uc(const struct flow *flow) {
    return flow->index % 2 == 1;
}

static uint16_t ipv4_checksum(const uint8_t *header) {
    uint32_t sum = 0;
    for (size_t i = 0; i < 20; i += 2)
        sum += (uint32_t)header[i] << 8 | header[i + 1];
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

// Ethernet, IP and UDP in front of `udp_bytes` less the UDP header.
static void begin(struct frame *frame, struct flow *flow, bool reverse, size_t udp_bytes) {
    frame->size = 0;
    const uint8_t from = reverse ? 2 : 1;
    const uint8_t to = reverse ? 1 : 2;
    memcpy(append(frame, 6), (const uint8_t[]){2, 0, 0, 0, 0, to}, 6);
    memcpy(append(frame, 6), (const uint8_t[]){2, 0, 0, 0, 0, from}, 6);
    if (is_ipv6(flow)) {
        append_u16(frame, 0x86DD);
        append_u32(frame, 0x60000000);
        append_u16(frame, (uint32_t)udp_bytes);
        append_u16(frame, 0x1140); // UDP, 64 hops
        const uint8_t prefix[15] = {0xFD, 0x00, 0x00, 0x01};
        memcpy(append(frame, 15), prefix, 15);
        *append(frame, 1) = from;
        memcpy(append(frame, 15), prefix, 15);
        *append(frame, 1) = to;
    } else {
        append_u16(frame, 0x0800);
        uint8_t *header = frame->bytes + frame->size;
        append_u16(frame, 0x4500);
        append_u16(frame, (uint32_t)(20 + udp_bytes));
        append_u16(frame, flow->ip_id[reverse]++);
        append_u16(frame, 0x4000);
        append_u16(frame, 0x4011); // TTL 64, UDP
        append_u16(frame, 0);
        memcpy(append(frame, 4), (const uint8_t[]){10, 0, 0, from}, 4);
        memcpy(append(frame, 4), (const uint8_t[]){10, 0, 0, to}, 4);
        const uint16_t checksum = htobe16(ipv4_checksum(header));
        memcpy(header + 10, &checksum, 2);
    }
    append_u16(frame, 0xC000 + flow->index);
    append_u16(frame, ROCE_PORT);
    append_u16(frame, (uint32_t)udp_bytes);
    append_u16(frame, 0);
}

static void append_bth(struct frame *frame, uint32_t opcode, uint32_t qpn, bool ask, uint32_t psn) {
    append_u16(frame, opcode << 8);
    append_u16(frame, 0xFFFF);
    append_u32(frame, qpn);
    append_u32(frame, (uint32_t)ask << 31 | psn);
}

static void finish(struct frame *frame, struct writer *writer) {
    append(frame, ICRC_BYTES);
    const uint32_t size = (uint32_t)frame->size;
    const struct roce_record judged = {
        .data = frame->bytes, .size = size, .full_size = size, .is_ethernet = true};
    struct roce_packet packet;
    roce_inspect(&judged, &packet);
    for (int byte = 0; byte < ICRC_BYTES; byte++)
        frame->bytes[size - ICRC_BYTES + (uint32_t)byte] = (uint8_t)(packet.right >> 8 * byte);
    const uint64_t time = writer->packets++ * PACKET_NS;
    const uint32_t record[4] = {(uint32_t)(time / 1000000000), (uint32_t)(time % 1000000000), size,
                                size};
    fwrite(record, sizeof record, 1, writer->file);
    fwrite(frame->bytes, frame->size, 1, writer->file);
    writer->bytes += sizeof record + frame->size;
}

static uint64_t next_random(struct writer *writer) {
    writer->random ^= writer->random << 13;
    writer->random ^= writer->random >> 7;
    writer->random ^= writer->random << 17;
    return writer->random;
}

static uint32_t opcode_of(const struct shape *shape, uint32_t packet) {
    if (shape->message_packets == 1)
        return WRITE_ONLY;
    if (packet == 0)
        return WRITE_FIRST;
    return packet == shape->message_packets - 1 ? WRITE_LAST : WRITE_MIDDLE;
}

static void write_ack(struct writer *writer, struct flow *flow) {
    struct frame frame;
    begin(&frame, flow, true, UDP_BYTES + BTH_BYTES + AETH_BYTES + ICRC_BYTES);
    append_bth(&frame, ACKNOWLEDGE, 0x200 + flow->index, false, flow->psn);
    append_u32(&frame, (uint32_t)POSITIVE_WITHOUT_CREDITS << 24 | flow->messages);
    finish(&frame, writer);
}

static void write_request(struct writer *writer, const struct shape *shape, struct flow *flow) {
    struct frame frame;
    const uint32_t opcode = opcode_of(shape, flow->packet);
    const bool has_reth = flow->packet == 0;
    const bool ends = flow->packet == shape->message_packets - 1;
    const bool ask = !is_uc(flow) && ends &&
                     (shape->message_packets > 1 || flow->messages % MESSAGES_AN_ACK == 0);
    begin(&frame, flow, false,
          UDP_BYTES + BTH_BYTES + (has_reth ? (size_t)RETH_BYTES : 0) + shape->payload_bytes +
              ICRC_BYTES);
    append_bth(&frame, opcode | (is_uc(flow) ? UC : 0), 0x100 + flow->index, ask, flow->psn);
    if (has_reth) {
        append_u32(&frame, 0x7F00);
        append_u32(&frame, flow->messages * shape->message_packets * shape->payload_bytes);
        append_u32(&frame, 0x1234 + flow->index);
        append_u32(&frame, shape->message_packets * shape->payload_bytes);
    }
    uint8_t *payload = append(&frame, shape->payload_bytes);
    for (size_t i = 0; i < shape->payload_bytes; i += 8)
        memcpy(payload + i, &(uint64_t){next_random(writer)}, 8);
    finish(&frame, writer);
    flow->packet = ends ? 0 : flow->packet + 1;
    flow->messages = (flow->messages + ends) & 0xFFFFFF;
    if (ask)
        write_ack(writer, flow);
    flow->psn = (flow->psn + 1) & 0xFFFFFF;
}

static const struct shape *shape_of(const char *name) {
    static const struct shape shapes[] = {
        {"large", 4096, 16, (uint64_t)1 << 30, 0},
        {"middle", 1024, 16, (uint64_t)1 << 30, 0},
        {"small", 64, 1, 0, 2000000},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(shapes[i].name, name) == 0)
            return &shapes[i];
    return NULL;
}

int main(int count, char **arguments) {
    const struct shape *shape = count == 3 ? shape_of(arguments[2]) : NULL;
    if (!shape) {
        fprintf(stderr, "usage: make_capture FILE large|middle|small\n");
        return 2;
    }
    struct writer writer = {.file = fopen(arguments[1], "wb"), .random = 0x9E3779B97F4A7C15};
    if (!writer.file) {
        perror(arguments[1]);
        return 2;
    }
    const uint32_t header[6] = {0xA1B23C4D, 4 << 16 | 2, 0, 0, 65535, 1};
    fwrite(header, sizeof header, 1, writer.file);
    struct flow flows[FLOWS] = {0};
    for (uint32_t i = 0; i < FLOWS; i++)
        flows[i] = (struct flow){.index = i, .psn = 0xFFF000 + i};
    while (writer.bytes < shape->least_bytes || writer.packets < shape->least_packets)
        write_request(&writer, shape, &flows[next_random(&writer) % FLOWS]);
    if (fflush(writer.file) != 0 || ferror(writer.file) || fclose(writer.file) != 0) {
        perror(arguments[1]);
        return 2;
    }
    return 0;
}
