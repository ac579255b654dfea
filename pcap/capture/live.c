// SPDX-License-Identifier: BSD-2-Clause
//
// Live capture through libpcap: immediate mode, whole frames, nanoseconds where
// the interface has them. Packets are copied, since libpcap keeps none of them.
// Packets that the kernel dropped make the end an error: gaps would be blamed
// on the wire.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/libpcap.h"
#include "capture/pieces.h"
#include "capture/reader.h"

// `vlan` moves the offsets of what follows it, so it stands last.
#define FILTER "ip or ip6 or ether proto 0x8915 or ether proto 0x9100 or vlan"

enum { PATH_BYTES = 384 }; // of the room that there is for an error

struct live {
    struct roce_capture capture;
    struct roce_source source;
    struct roce_pieces pieces;
    size_t used; // of the current piece
    struct roce_libpcap library;
    pcap_t *pcap;
    uint32_t tick_ns;
};

static struct live *live_of(struct roce_source *source) {
    return (struct live *)(void *)((char *)source - offsetof(struct live, source));
}

static const uint8_t *keep(struct live *live, const uint8_t *bytes, size_t size) {
    struct roce_piece *piece = live->pieces.current;
    if (!piece || piece->size - live->used < size) {
        piece = roce_pieces_next(&live->pieces, size, live->source.newest);
        if (!piece)
            return NULL;
        live->used = 0;
    }
    uint8_t *to = piece->bytes + live->used;
    memcpy(to, bytes, size);
    live->used += size;
    return to;
}

static enum roce_capture_status fail(struct live *live, const char *what) {
    snprintf(live->capture.error, sizeof live->capture.error, "%s", what);
    return ROCE_CAPTURE_ERROR;
}

static enum roce_capture_status end(struct live *live) {
    struct pcap_stat counts = {0};
    if (live->library.stats(live->pcap, &counts) != 0 || counts.ps_drop == 0)
        return ROCE_CAPTURE_END;
    snprintf(live->capture.error, sizeof live->capture.error,
             "the kernel dropped %u packets: gaps may be its doing", counts.ps_drop);
    return ROCE_CAPTURE_ERROR;
}

static enum roce_capture_status next_live(struct roce_capture *capture,
                                          struct roce_record *record) {
    struct live *live = (struct live *)capture;
    struct pcap_pkthdr *header;
    const u_char *bytes;
    int got;
    do
        got = live->library.next_ex(live->pcap, &header, &bytes);
    while (got == 0); // a time-out without a packet
    if (got == PCAP_ERROR_BREAK)
        return end(live);
    if (got < 0)
        return fail(live, live->library.geterr(live->pcap));
    const uint8_t *data = keep(live, bytes, header->caplen);
    if (!data)
        return fail(live, "out of memory");
    *record = (struct roce_record){
        .data = data,
        .time_ns = (uint64_t)header->ts.tv_sec * 1000000000U +
                   (uint64_t)header->ts.tv_usec * live->tick_ns,
        .number = ++live->source.newest,
        .size = header->caplen,
        .full_size = header->len > header->caplen ? header->len : header->caplen,
        .is_ethernet = 1,
    };
    live->source.consumed += header->caplen;
    return ROCE_CAPTURE_PACKET;
}

static void stop_live(struct roce_capture *capture) {
    struct live *live = (struct live *)capture;
    live->library.breakloop(live->pcap);
}

static void release_live(struct roce_source *source, uint64_t number) {
    roce_pieces_release(&live_of(source)->pieces, number);
}

static void close_live(struct roce_source *source) {
    struct live *live = live_of(source);
    live->library.close(live->pcap);
    roce_libpcap_unload(&live->library);
    roce_pieces_free(&live->pieces);
}

static void free_live(struct roce_capture *capture) {
    free(capture);
}

// Settings before activation; those that an interface lacks are left as they are.
static pcap_t *create(const struct roce_libpcap *library, const char *interface, char *error,
                      size_t error_bytes) {
    char text[PCAP_ERRBUF_SIZE] = "";
    pcap_t *pcap = library->create(interface, text);
    if (!pcap) {
        snprintf(error, error_bytes, "%s", text);
        return NULL;
    }
    library->set_snaplen(pcap, LONGEST_RECORD_BYTES);
    library->set_promisc(pcap, 1);
    library->set_immediate_mode(pcap, 1);
    library->set_buffer_size(pcap, 64 << 20);
    library->set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
    return pcap;
}

// Without the right to capture: who needs it is this program, wherever it was built.
static void refuse(char *error, size_t error_bytes) {
    char program[PATH_BYTES] = "";
    const ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    snprintf(error, error_bytes,
             "no permission to capture; run as root, or once: sudo setcap cap_net_raw+ep %s",
             size > 0 ? program : "roce-check");
}

// Activate and filter; false with a text.
static bool start(const struct roce_libpcap *library, pcap_t *pcap, char *error,
                  size_t error_bytes) {
    const int status = library->activate(pcap);
    if (status == PCAP_ERROR_PERM_DENIED) {
        refuse(error, error_bytes);
        return false;
    }
    if (status < 0) {
        const char *detail = library->geterr(pcap);
        snprintf(error, error_bytes, "%s", *detail ? detail : library->statustostr(status));
        return false;
    }
    if (library->datalink(pcap) != DLT_EN10MB) {
        snprintf(error, error_bytes, "its link type %d (%s) is not Ethernet",
                 library->datalink(pcap), roce_link_type_name((uint16_t)library->datalink(pcap)));
        return false;
    }
    struct bpf_program program;
    bool filtered = library->compile(pcap, &program, FILTER, 1, PCAP_NETMASK_UNKNOWN) == 0;
    if (filtered) {
        filtered = library->setfilter(pcap, &program) == 0;
        library->freecode(&program);
    }
    if (!filtered)
        snprintf(error, error_bytes, "cannot be filtered: %s", library->geterr(pcap));
    return filtered;
}

struct roce_capture *roce_capture_open_live(const char *interface, char *error,
                                            size_t error_bytes) {
    static const struct roce_source_kind kind = {NULL, release_live, close_live};
    struct roce_libpcap library;
    if (!roce_libpcap_load(&library, error, error_bytes))
        return NULL;
    pcap_t *pcap = create(&library, interface, error, error_bytes);
    struct live *live = NULL;
    if (pcap && start(&library, pcap, error, error_bytes))
        live = malloc(sizeof *live);
    if (!live) {
        if (pcap)
            library.close(pcap);
        roce_libpcap_unload(&library);
        return NULL;
    }
    const bool nanoseconds = library.get_tstamp_precision(pcap) == PCAP_TSTAMP_PRECISION_NANO;
    *live = (struct live){
        .capture = {.source = &live->source,
                    .next = next_live,
                    .stop = stop_live,
                    .free = free_live},
        .source = {.kind = &kind},
        .library = library,
        .pcap = pcap,
        .tick_ns = nanoseconds ? 1 : 1000,
    };
    return &live->capture;
}
