// SPDX-License-Identifier: BSD-2-Clause
//
// A link that replays a capture into the DUT: at the capture's own pace, its
// first frame at time 0, or back to back. What the DUT sends goes nowhere; the
// tap point records it.

#include "common/frame.h"
#include "link/link.h"

#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

struct replay {
    struct link link;
    pcap_t *capture;
    bool back_to_back;
    bool started;
    uint64_t base_ns;
    const u_char *frame; // the next one, NULL at the end
    struct pcap_pkthdr header;
    uint64_t due_ns;
};

// With nanosecond precision libpcap puts nanoseconds where tv_usec says micro. A capture may
// claim any second at all, so that sums wrap: such a stamp is wrong, but it is a number.
static uint64_t stamp_ns(const struct pcap_pkthdr *header) {
    return (uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec;
}

static int read_next(struct replay *self, struct error *error) {
    for (;;) {
        struct pcap_pkthdr *header;
        int result = pcap_next_ex(self->capture, &header, &self->frame);
        if (result == PCAP_ERROR_BREAK) {
            self->frame = NULL;
            return 0;
        }
        if (result != 1) {
            return error_set(error, "link pcap: %s", pcap_geterr(self->capture));
        }
        self->header = *header;
        if (header->caplen == header->len && header->len > 0 && header->len <= FRAME_MAX) {
            break;
        }
        self->link.dropped_in++; // cut short by its capture, or no frame of ours
    }
    uint64_t stamp = stamp_ns(&self->header);
    if (!self->started) {
        self->started = true;
        self->base_ns = stamp;
    }
    int64_t since = (int64_t)(stamp - self->base_ns);
    uint64_t due = self->back_to_back || since < 0 ? 0 : (uint64_t)since;
    self->due_ns = due > self->due_ns ? due : self->due_ns;
    return 0;
}

static enum link_result replay_send(struct link *link, uint64_t cycle, const uint8_t *frame,
                                    size_t length, struct error *error) {
    (void)link, (void)cycle, (void)frame, (void)length, (void)error;
    return LINK_OK;
}

static enum link_result replay_receive(struct link *link, uint64_t now_ns, uint8_t *frame,
                                       size_t *length, struct error *error) {
    struct replay *self = (struct replay *)link;
    if (!self->frame || self->due_ns > now_ns) {
        return LINK_BUSY;
    }
    memcpy(frame, self->frame, self->header.len);
    *length = self->header.len;
    return read_next(self, error) == 0 ? LINK_OK : LINK_FAILED;
}

static uint64_t replay_next_ns(const struct link *link) {
    const struct replay *self = (const struct replay *)link;
    return self->frame ? self->due_ns : LINK_NEVER;
}

static void replay_close(struct link *link) {
    struct replay *self = (struct replay *)link;
    pcap_close(self->capture);
    free(self);
}

static const struct link_ops replay_ops = {
    .send = replay_send,
    .receive = replay_receive,
    .next_ns = replay_next_ns,
    .count = link_count_nothing,
    .close = replay_close,
};

struct link *link_pcap_open(const char *path, bool back_to_back, struct error *error) {
    char text[PCAP_ERRBUF_SIZE] = "";
    struct replay *self = calloc(1, sizeof *self);
    if (!self) {
        error_set(error, "link pcap: out of memory");
        return NULL;
    }
    self->link = (struct link){.ops = &replay_ops, .kind = "pcap"};
    self->back_to_back = back_to_back;
    self->capture = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
    if (!self->capture) {
        error_set(error, "link pcap:%s: %s", path, text);
        free(self);
        return NULL;
    }
    int type = pcap_datalink(self->capture);
    if (type != DLT_EN10MB) {
        error_set(error, "link pcap:%s: link type %d, expected Ethernet (1)", path, type);
        replay_close(&self->link);
        return NULL;
    }
    if (read_next(self, error) != 0) {
        replay_close(&self->link);
        return NULL;
    }
    return &self->link;
}
