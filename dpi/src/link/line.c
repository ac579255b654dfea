// SPDX-License-Identifier: BSD-2-Clause
//
// A line in front of another link, in simulated time: each way a rate, a delay,
// a queue that marks what it delays and drops what it cannot hold, and by seed
// what goes wrong. The same seed and the same frames at the same times give the
// same. What the device has sent leaves when the link is next asked for frames.

#include "common/frame.h"
#include "common/mix.h"
#include "link/congestion.h"
#include "link/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    AROUND_FRAME = 24,    // bytes of FCS, preamble and gap, which frames here lack
    WAITING_LIMIT = 4096, // frames
    RATE_LEAST = 1000000,
    BEHIND_BTH = 54, // bytes: from here on bits may flip, no ICRC masks them there
};

#define PS_PER_NS 1000u
#define PS_PER_SECOND UINT64_C(1000000000000)
#define SHARES UINT64_C(1000000000) // of frames

struct waiting {
    uint64_t due_ps;
    size_t length;
    uint8_t *bytes;
    unsigned done; // of link_action
};

struct way {
    uint64_t free_ps; // when the last frame has left
    uint64_t random;
    uint64_t dropped;
    struct waiting waiting[WAITING_LIMIT]; // by when they are due
    size_t size;
};

struct line {
    struct link link;
    struct link *inner;
    uint64_t now_ps;
    uint64_t rate;    // bits a second, 0 is any
    uint64_t delay;   // ps
    uint64_t buffer;  // bytes, 0 is endless
    uint64_t mark;    // bytes: a frame behind more of them is told of congestion; 0 is never
    uint64_t loss;    // frames in SHARES: these get lost,
    uint64_t twice;   // come twice,
    uint64_t swap;    // come behind those after them,
    uint64_t corrupt; // or with one bit flipped
    uint64_t seed;
    struct way out;
    struct way in;
};

static uint64_t draw(struct way *way) {
    return mix(way->random += MIX_STEP);
}

static bool happens(struct way *way, uint64_t share) {
    return share && draw(way) % SHARES < share;
}

static uint64_t time_of(const struct line *self, uint64_t bytes) {
    return self->rate ? bytes * 8 * PS_PER_SECOND / self->rate : 0;
}

// Keeps a copy until it is due; false without memory.
static bool put(struct way *way, uint64_t due_ps, const uint8_t *frame, size_t length,
                unsigned done) {
    struct waiting entry = {
        .due_ps = due_ps, .length = length, .bytes = malloc(length), .done = done};
    if (!entry.bytes) {
        return false;
    }
    memcpy(entry.bytes, frame, length);
    size_t at = way->size++;
    for (; at > 0 && way->waiting[at - 1].due_ps > due_ps; at--) {
        way->waiting[at] = way->waiting[at - 1];
    }
    way->waiting[at] = entry;
    return true;
}

static void pop(struct way *way) {
    free(way->waiting[0].bytes);
    memmove(way->waiting, way->waiting + 1, --way->size * sizeof *way->waiting);
}

// A frame may come twice.
static bool has_room(const struct way *way) {
    return way->size + 2 <= WAITING_LIMIT;
}

// What the line has done is told in `done`, and to a copy.
static enum link_result carry(struct line *self, struct way *way, const uint8_t *frame,
                              size_t length, unsigned *done, struct error *error) {
    uint64_t time = time_of(self, length + AROUND_FRAME);
    uint64_t begin = way->free_ps > self->now_ps ? way->free_ps : self->now_ps;
    uint64_t per_byte = self->rate ? 8 * PS_PER_SECOND / self->rate : 0;
    if (self->buffer && begin - self->now_ps + time > self->buffer * per_byte) {
        way->dropped++;
        *done = LINK_DROPPED;
        return LINK_OK;
    }
    way->free_ps = begin + time;
    uint64_t due = way->free_ps + self->delay;
    if (happens(way, self->loss)) {
        way->dropped++;
        *done = LINK_LOST;
        return LINK_OK;
    }
    uint8_t copy[FRAME_MAX];
    memcpy(copy, frame, length);
    *done = happens(way, self->swap) ? LINK_LATE : 0;
    due += *done ? 2 * time : 0;
    if (self->mark && begin - self->now_ps > self->mark * per_byte &&
        congestion_mark(copy, length)) {
        *done |= LINK_MARKED;
    }
    if (length > BEHIND_BTH && happens(way, self->corrupt)) {
        uint64_t bit = draw(way) % (8 * (length - BEHIND_BTH));
        copy[BEHIND_BTH + bit / 8] ^= (uint8_t)(1u << bit % 8);
        *done |= LINK_FLIPPED;
    }
    *done |= happens(way, self->twice) ? LINK_TWICE : 0;
    for (unsigned copies = *done & LINK_TWICE ? 2 : 1; copies > 0; copies--) {
        if (!put(way, due, copy, length, *done)) {
            return (enum link_result)error_set(error, "link line: out of memory");
        }
    }
    return LINK_OK;
}

static bool is_due(const struct line *self, const struct way *way) {
    return way->size && way->waiting[0].due_ps <= self->now_ps;
}

static int push_out(struct line *self, struct error *error) {
    while (is_due(self, &self->out)) {
        const struct waiting *first = &self->out.waiting[0];
        switch (self->inner->ops->send(self->inner, 0, first->bytes, first->length, error)) {
        case LINK_OK:
            pop(&self->out);
            break;
        case LINK_BUSY:
            return 0;
        default:
            return -1;
        }
    }
    return 0;
}

static enum link_result line_send(struct link *link, uint64_t cycle, const uint8_t *frame,
                                  size_t length, struct error *error) {
    struct line *self = (struct line *)link;
    (void)cycle;
    if (push_out(self, error) != 0) {
        return LINK_FAILED;
    }
    return has_room(&self->out) ? carry(self, &self->out, frame, length, &link->done, error)
                                : LINK_BUSY;
}

static int pull_in(struct line *self, uint8_t *room, struct error *error) {
    unsigned done;
    while (has_room(&self->in)) {
        size_t length = 0;
        switch (self->inner->ops->receive(self->inner, self->now_ps / PS_PER_NS, room, &length,
                                          error)) {
        case LINK_OK:
            if (carry(self, &self->in, room, length, &done, error) != LINK_OK) {
                return -1;
            }
            break;
        case LINK_BUSY:
            return 0;
        default:
            return -1;
        }
    }
    return 0;
}

static enum link_result line_receive(struct link *link, uint64_t now_ns, uint8_t *frame,
                                     size_t *length, struct error *error) {
    struct line *self = (struct line *)link;
    self->now_ps = now_ns * PS_PER_NS;
    if (push_out(self, error) != 0 || pull_in(self, frame, error) != 0) {
        return LINK_FAILED;
    }
    if (!is_due(self, &self->in)) {
        return LINK_BUSY;
    }
    *length = self->in.waiting[0].length;
    link->done = self->in.waiting[0].done;
    memcpy(frame, self->in.waiting[0].bytes, *length);
    pop(&self->in);
    return LINK_OK;
}

static uint64_t line_next_ns(const struct link *link) {
    const struct line *self = (const struct line *)link;
    uint64_t next = self->inner->ops->next_ns(self->inner);
    const struct way *const ways[] = {&self->out, &self->in};
    for (size_t i = 0; i < 2; i++) {
        if (ways[i]->size) {
            uint64_t due = (ways[i]->waiting[0].due_ps + PS_PER_NS - 1) / PS_PER_NS;
            next = due < next ? due : next;
        }
    }
    return next;
}

static void line_count(struct link *link) {
    struct line *self = (struct line *)link;
    self->inner->ops->count(self->inner);
    link->dropped_in = self->inner->dropped_in + self->in.dropped;
    link->dropped_out = self->inner->dropped_out + self->out.dropped;
}

static void line_close(struct link *link) {
    struct line *self = (struct line *)link;
    while (self->out.size) {
        pop(&self->out);
    }
    while (self->in.size) {
        pop(&self->in);
    }
    self->inner->ops->close(self->inner);
    free(self);
}

static const struct link_ops line_ops = {
    .send = line_send,
    .receive = line_receive,
    .next_ns = line_next_ns,
    .count = line_count,
    .close = line_close,
};

// WORD=NUMBER,...; false, with what is wrong in `error`.
static bool read_words(struct line *self, char *words, struct error *error) {
    const struct {
        const char *name;
        uint64_t *value;
        uint64_t most;
    } known[] = {
        {"rate", &self->rate, PS_PER_SECOND},
        {"delay", &self->delay, 10 * PS_PER_SECOND},
        {"buffer", &self->buffer, UINT64_C(1) << 30},
        {"mark", &self->mark, UINT64_C(1) << 30},
        {"loss", &self->loss, SHARES},
        {"twice", &self->twice, SHARES},
        {"swap", &self->swap, SHARES},
        {"corrupt", &self->corrupt, SHARES},
        {"seed", &self->seed, UINT32_MAX},
    };
    char *rest = NULL;
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        size_t length = strcspn(word, "=");
        bool is_read = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0] && word[length]; i++) {
            if (strlen(known[i].name) == length && strncmp(known[i].name, word, length) == 0) {
                char *end = NULL;
                errno = 0;
                unsigned long long value = strtoull(word + length + 1, &end, 10);
                is_read = !errno && end != word + length + 1 && !*end && word[length + 1] != '-' &&
                          value <= known[i].most;
                *known[i].value = value;
            }
        }
        if (!is_read) {
            error_set(error,
                      "link line: '%s': expected rate (bits a second, up to 10^12), delay (ps, up "
                      "to 10 s), buffer, mark (bytes), loss, twice, swap, corrupt (of 10^9 frames) "
                      "or seed, each =NUMBER",
                      word);
            return false;
        }
    }
    bool has_queue = self->buffer || self->mark;
    if (self->rate ? self->rate < RATE_LEAST : has_queue) {
        error_set(error, "link line: expected a rate of %d bits a second or more%s", RATE_LEAST,
                  has_queue ? " with a buffer or mark" : ", or none");
        return false;
    }
    return true;
}

struct link *link_line_open(const char *words, struct link *inner, struct error *error) {
    struct line *self = calloc(1, sizeof *self);
    char *copy = strdup(words);
    if (!self || !copy) {
        error_set(error, "link line: out of memory");
    } else if (read_words(self, copy, error)) {
        free(copy);
        self->link = (struct link){.ops = &line_ops, .kind = "line"};
        self->inner = inner;
        self->out.random = 2 * self->seed;
        self->in.random = 2 * self->seed + 1;
        return &self->link;
    }
    free(copy);
    free(self);
    inner->ops->close(inner);
    return NULL;
}
