// SPDX-License-Identifier: BSD-2-Clause
//
// The pcap format: a header that settles byte order, resolution, link type and
// FCS, then records. After a damaged record nothing can be found again, so the
// capture ends there.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/reader.h"

enum {
    FILE_HEADER_BYTES = 24,
    RECORD_HEADER_BYTES = 16,
};

struct pcap {
    struct roce_capture capture;
    uint32_t tick_ns;
    uint8_t fcs_bytes;
};

// Brings in a record of which not all is at hand, and says what is wrong with one that cannot be.
static enum roce_capture_status bring_in(struct roce_capture *capture) {
    struct roce_source *source = capture->source;
    if (!roce_source_has(source, RECORD_HEADER_BYTES)) {
        const size_t left = roce_source_ready(source);
        if (left == 0 && !source->error[0])
            return ROCE_CAPTURE_END;
        return roce_capture_fail(capture, roce_source_offset(source),
                                 "cut in a record header: %zu of %d bytes are there", left,
                                 RECORD_HEADER_BYTES);
    }
    const uint32_t size = roce_read_u32(source->at + 8, capture->big_endian);
    if (size > LONGEST_RECORD_BYTES)
        return roce_capture_fail(capture, roce_source_offset(source),
                                 "a record of %" PRIu32 " bytes, longer than any packet", size);
    if (!roce_source_has(source, RECORD_HEADER_BYTES + (size_t)size))
        return roce_capture_fail(capture, roce_source_offset(source),
                                 "cut in a record: %zu of its %" PRIu32 " bytes are there",
                                 roce_source_ready(source) - RECORD_HEADER_BYTES, size);
    return ROCE_CAPTURE_PACKET;
}

// Whether the next record is there as a whole and no longer than a packet can be.
static inline bool is_at_hand(const struct roce_source *source, bool big) {
    const size_t ready = roce_source_ready(source);
    if (ready < RECORD_HEADER_BYTES)
        return false;
    const uint32_t size = roce_read_u32(source->at + 8, big);
    return size <= LONGEST_RECORD_BYTES && ready - RECORD_HEADER_BYTES >= size;
}

static inline void take(const struct roce_capture *capture, bool big, struct roce_record *record) {
    const struct pcap *pcap = (const struct pcap *)capture;
    struct roce_source *source = capture->source;
    const uint8_t *header = source->at;
    const uint32_t size = roce_read_u32(header + 8, big);
    const uint32_t full_size = roce_read_u32(header + 12, big);
    source->at = header + RECORD_HEADER_BYTES + size;
    roce_prefetch_header(source->at, RECORD_HEADER_BYTES + (size_t)size);
    *record = (struct roce_record){
        .data = header + RECORD_HEADER_BYTES,
        .time_ns = roce_read_u32(header, big) * UINT64_C(1000000000) +
                   roce_read_u32(header + 4, big) * (uint64_t)pcap->tick_ns,
        .number = ++source->newest,
        .size = size,
        .full_size = full_size > size ? full_size : size,
        .fcs_bytes = pcap->fcs_bytes,
        .is_ethernet = 1,
    };
}

static enum roce_capture_status next_pcap(struct roce_capture *capture,
                                          struct roce_record *record) {
    const enum roce_capture_status status = bring_in(capture);
    if (status == ROCE_CAPTURE_PACKET)
        take(capture, capture->big_endian, record);
    return status;
}

static inline unsigned int more(const struct roce_capture *capture, bool big,
                                struct roce_record *records, unsigned int most) {
    unsigned int count = 0;
    while (count < most && is_at_hand(capture->source, big))
        take(capture, big, &records[count++]);
    return count;
}

static unsigned int more_pcap(struct roce_capture *capture, struct roce_record *records,
                              unsigned int most) {
    return capture->big_endian ? more(capture, true, records, most)
                               : more(capture, false, records, most);
}

static void free_pcap(struct roce_capture *capture) {
    free(capture);
}

struct roce_capture *roce_capture_open_pcap(struct roce_source *source, char *error,
                                            size_t error_bytes) {
    if (!roce_source_has(source, FILE_HEADER_BYTES)) {
        if (source->error[0])
            snprintf(error, error_bytes, "%s", source->error);
        else
            snprintf(error, error_bytes, "cut in the file header: %zu of %d bytes are there",
                     roce_source_ready(source), FILE_HEADER_BYTES);
        return NULL;
    }
    const uint8_t *header = source->at;
    const bool big = header[0] == 0xA1;
    const bool nanoseconds = roce_read_u32(header, big) == 0xA1B23C4D;
    const unsigned version = roce_read_u16(header + 4, big);
    // Four bits of FCS length in units of 16 bits, one bit that says they hold, and the type.
    const uint32_t link = roce_read_u32(header + 20, big);
    const uint16_t link_type = (uint16_t)link;
    if (version != 2) {
        snprintf(error, error_bytes, "pcap of version %u, not 2", version);
        return NULL;
    }
    if (link_type != LINK_TYPE_ETHERNET) {
        snprintf(error, error_bytes, "link type %u (%s) is not Ethernet", link_type,
                 roce_link_type_name(link_type));
        return NULL;
    }
    struct pcap *pcap = malloc(sizeof *pcap);
    if (!pcap) {
        snprintf(error, error_bytes, "out of memory");
        return NULL;
    }
    *pcap = (struct pcap){
        .capture =
            {
                .source = source,
                .next = next_pcap,
                .more = more_pcap,
                .free = free_pcap,
                .big_endian = big,
            },
        .tick_ns = nanoseconds ? 1 : 1000,
        .fcs_bytes = (uint8_t)(link & 0x04000000 ? (link >> 28) * 2 : 0),
    };
    source->at += FILE_HEADER_BYTES;
    return &pcap->capture;
}
