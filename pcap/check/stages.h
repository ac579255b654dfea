// SPDX-License-Identifier: BSD-2-Clause
//
// The stages of checking in several threads, and what they hand on: batches in a ring,
// which are read and inspected (batches.c), then routed in order, judged by all
// judges at once, and reported in order (stages.c).

#ifndef ROCEPROOF_CHECK_STAGES_H
#define ROCEPROOF_CHECK_STAGES_H

#include <pthread.h>
#include <stdatomic.h>

#include "check/batches.h"
#include "check/kept_findings.h"
#include "routing/shared.h"

enum { ROCE_BATCH = 512, ROCE_LINE = 64 };

struct roce_batch {
    unsigned int count;
    atomic_bool inspected;
    struct roce_record records[ROCE_BATCH];
    struct roce_packet packets[ROCE_BATCH];
    struct roce_routed routed[ROCE_BATCH];
    struct roce_kept_findings findings[ROCE_JUDGES];
    uint16_t places[ROCE_JUDGES][ROCE_BATCH]; // of each judge's packets
    atomic_uint counts[ROCE_JUDGES];
};

// Where a judge is. Packets are counted as if every batch were full.
struct roce_desk {
    _Alignas(ROCE_LINE) pthread_mutex_t lock; // guards the judge and the next one
    unsigned int next;                        // of its places in the batch
    atomic_uint_fast64_t done;                // up to there it has judged what it was told
};

struct roce_pipeline {
    struct roce_capture *capture;
    struct roce_oracle *oracle;
    roce_report *report;
    void *report_context;
    roce_progress *progress;
    void *context;
    unsigned int batches; // in the ring
    struct roce_batch *ring;
    _Alignas(ROCE_LINE) pthread_mutex_t reading; // guards the capture and the next three
    pthread_cond_t room;                         // batches are through
    enum roce_capture_status status;
    uint64_t read; // batches so far
    uint64_t through;
    _Alignas(ROCE_LINE)
        pthread_mutex_t routing;   // guards what all judges share; before a desk's lock
    atomic_uint_fast64_t to_route; // the next batch
    atomic_uint_fast64_t routed;   // packets that judges may look at
    _Alignas(ROCE_LINE) pthread_mutex_t reporting; // before `reading`
    atomic_uint_fast64_t to_report;                // the next batch
    struct roce_desk desks[ROCE_JUDGES];
};

static inline struct roce_batch *roce_batch_at(const struct roce_pipeline *pipeline,
                                               uint64_t number) {
    return &pipeline->ring[number % pipeline->batches];
}

// Do of each stage what can be done and no other thread is at. Who finds another thread there goes
// on: that one looks again before it leaves.
void roce_route_batches(struct roce_pipeline *pipeline);
void roce_judge_batches(struct roce_pipeline *pipeline, unsigned int first); // begin with that desk
void roce_report_batches(struct roce_pipeline *pipeline);

#endif
