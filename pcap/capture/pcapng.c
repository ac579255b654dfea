// SPDX-License-Identifier: BSD-2-Clause
//
// The pcapng format: blocks, of which sections, interfaces and packets are read
// and all others stepped over. A block states its length at both ends; where
// the two differ the file is damaged and the capture ends.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/interfaces.h"
#include "capture/packets.h"

enum {
    SECTION_BLOCK = 0x0A0D0D0A, // the same in either byte order
    INTERFACE_BLOCK = 1,

    SMALLEST_BLOCK_BYTES = 12, // enough for a section's byte-order word, too
    SECTION_BYTES = 28,
    TRAILER_BYTES = 4,
    LONGEST_BLOCK_BYTES = 1 << 20, // of those that are read
    STEP_BYTES = 1 << 16,
};

struct pcapng {
    struct roce_capture capture;
    struct roce_interfaces interfaces;
};

static const char *begin_section(struct pcapng *pcapng, const uint8_t *block, uint32_t length) {
    if (length < SECTION_BYTES)
        return "a section header too short for its fields";
    if (roce_read_u16(block + 12, pcapng->capture.big_endian) != 1)
        return "a section of another pcapng version than 1";
    roce_interfaces_begin_section(&pcapng->interfaces);
    return NULL;
}

static bool is_packet(uint32_t type) {
    return type == ROCE_ENHANCED_PACKET || type == ROCE_SIMPLE_PACKET ||
           type == ROCE_OBSOLETE_PACKET;
}

static bool is_read(uint32_t type) {
    return is_packet(type) || type == INTERFACE_BLOCK || type == SECTION_BLOCK;
}

// Settle a section's byte order, which its length is already in; false if the word is neither.
static bool read_byte_order(struct roce_capture *capture) {
    const uint32_t word = roce_read_u32(capture->source->at + 8, true);
    capture->big_endian = word == 0x1A2B3C4D;
    return word == 0x1A2B3C4D || word == 0x4D3C2B1A;
}

// Go to the end of a block of any length, in steps; false if it is cut.
static bool step_over(struct roce_source *source, uint32_t length) {
    while (length) {
        const uint32_t step = length < STEP_BYTES ? length : STEP_BYTES;
        if (!roce_source_has(source, step))
            return false;
        source->at += step;
        length -= step;
    }
    return true;
}

static enum roce_capture_status fail_cut(struct roce_capture *capture, uint64_t start,
                                         uint32_t length) {
    const uint64_t there = capture->source->end_offset - start;
    return roce_capture_fail(capture, start,
                             "cut in a block: %" PRIu64 " of its %" PRIu32 " bytes are there",
                             there, length);
}

static enum roce_capture_status end(struct pcapng *pcapng) {
    const struct roce_interfaces *interfaces = &pcapng->interfaces;
    if (interfaces->has_ethernet || interfaces->before + interfaces->count == 0)
        return ROCE_CAPTURE_END;
    return roce_capture_fail(&pcapng->capture, roce_source_offset(pcapng->capture.source),
                             "no interface is Ethernet: link type %u (%s)",
                             interfaces->foreign_type,
                             roce_link_type_name(interfaces->foreign_type));
}

// Read one block that was checked to be whole.
static const char *read_block(struct pcapng *pcapng, uint32_t type, uint32_t length,
                              struct roce_record *record) {
    const uint8_t *block = pcapng->capture.source->at;
    const bool big = pcapng->capture.big_endian;
    if (type == SECTION_BLOCK)
        return begin_section(pcapng, block, length);
    if (type == INTERFACE_BLOCK)
        return roce_interfaces_add(&pcapng->interfaces, block, length, big);
    return roce_packet_read(&pcapng->interfaces, block, type, length, big, record);
}

static enum roce_capture_status next_pcapng(struct roce_capture *capture,
                                            struct roce_record *record) {
    struct pcapng *pcapng = (struct pcapng *)capture;
    struct roce_source *source = capture->source;
    for (;;) {
        const uint64_t start = roce_source_offset(source);
        if (!roce_source_has(source, SMALLEST_BLOCK_BYTES)) {
            const size_t left = roce_source_ready(source);
            if (left == 0 && !source->error[0])
                return end(pcapng);
            return roce_capture_fail(capture, start, "cut in a block header: %zu bytes are there",
                                     left);
        }
        const uint32_t type = roce_read_u32(source->at, capture->big_endian);
        if (type == SECTION_BLOCK && !read_byte_order(capture))
            return roce_capture_fail(capture, start, "a section without a byte-order word");
        const uint32_t length = roce_read_u32(source->at + 4, capture->big_endian);
        if (length < SMALLEST_BLOCK_BYTES || length % 4 != 0)
            return roce_capture_fail(capture, start, "a block of %" PRIu32 " bytes", length);
        const uint32_t body = length - TRAILER_BYTES;
        const bool wanted = is_read(type);
        if (wanted && length > LONGEST_BLOCK_BYTES)
            return roce_capture_fail(
                capture, start, "a block of %" PRIu32 " bytes, longer than any packet", length);
        if (wanted ? !roce_source_has(source, length)
                   : !step_over(source, body) || !roce_source_has(source, TRAILER_BYTES))
            return fail_cut(capture, start, length);
        const uint8_t *trailer = wanted ? source->at + body : source->at;
        const uint32_t again = roce_read_u32(trailer, capture->big_endian);
        if (again != length)
            return roce_capture_fail(capture, start,
                                     "a block of %" PRIu32 " bytes ends as one of %" PRIu32, length,
                                     again);
        const char *wrong = wanted ? read_block(pcapng, type, length, record) : NULL;
        if (wrong)
            return roce_capture_fail(capture, start, "%s", wrong);
        source->at = trailer + TRAILER_BYTES;
        if (is_packet(type)) {
            roce_prefetch_header(source->at, length);
            record->number = ++source->newest;
            return ROCE_CAPTURE_PACKET;
        }
    }
}

static void free_pcapng(struct roce_capture *capture) {
    struct pcapng *pcapng = (struct pcapng *)capture;
    free(pcapng->interfaces.rows);
    free(pcapng);
}

struct roce_capture *roce_capture_open_pcapng(struct roce_source *source, char *error,
                                              size_t error_bytes) {
    struct pcapng *pcapng = calloc(1, sizeof *pcapng);
    if (!pcapng) {
        snprintf(error, error_bytes, "out of memory");
        return NULL;
    }
    pcapng->capture.source = source;
    pcapng->capture.next = next_pcapng;
    pcapng->capture.free = free_pcapng;
    return &pcapng->capture;
}
