// SPDX-License-Identifier: BSD-2-Clause
//
// Routing goes through the batches in order and tells each judge its packets; a packet
// that concerns more than one judge is judged there and then, once all are through with
// what came before. Each judge is one thread's work at a time, and any thread's. What
// they find is reported batch by batch.

#include "check/stages.h"

#include "oracle/judging.h"
#include "routing/routing.h"

static void judge_packet(struct roce_pipeline *pipeline, struct roce_batch *batch,
                         unsigned int place) {
    const struct roce_routed *routed = &batch->routed[place];
    struct roce_judge *judge = &pipeline->oracle->judges[routed->judge];
    struct roce_kept_findings *findings = &batch->findings[routed->judge];
    findings->place = place;
    judge->context = findings;
    roce_judge_routed(judge, &batch->records[place], &batch->packets[place], routed);
}

// With the desk's lock: judge all that the judge was told of.
static void judge_told(struct roce_pipeline *pipeline, unsigned int number) {
    struct roce_desk *desk = &pipeline->desks[number];
    const uint64_t to = atomic_load(&pipeline->routed);
    uint64_t done = atomic_load(&desk->done);
    while (done < to) {
        struct roce_batch *batch = roce_batch_at(pipeline, done / ROCE_BATCH);
        const uint64_t start = done / ROCE_BATCH * ROCE_BATCH;
        const uint64_t limit = to - start < ROCE_BATCH ? to - start : ROCE_BATCH;
        const unsigned int count = atomic_load(&batch->counts[number]);
        while (desk->next < count && batch->places[number][desk->next] < limit)
            judge_packet(pipeline, batch, batch->places[number][desk->next++]);
        if (limit == ROCE_BATCH)
            desk->next = 0;
        done = start + limit;
        atomic_store(&desk->done, done);
    }
}

static void judge_alone(struct roce_pipeline *pipeline, struct roce_batch *batch, uint64_t start,
                        unsigned int place) {
    atomic_store(&pipeline->routed, start + place);
    for (unsigned int i = 0; i < ROCE_JUDGES; i++) {
        pthread_mutex_lock(&pipeline->desks[i].lock);
        judge_told(pipeline, i);
        pthread_mutex_unlock(&pipeline->desks[i].lock);
    }
    roce_route(pipeline->oracle, &batch->records[place], &batch->packets[place], true,
               &batch->routed[place]);
    struct roce_desk *desk = &pipeline->desks[batch->routed[place].judge];
    pthread_mutex_lock(&desk->lock);
    judge_packet(pipeline, batch, place);
    pthread_mutex_unlock(&desk->lock);
}

static void route_batch(struct roce_pipeline *pipeline, uint64_t number) {
    struct roce_batch *batch = roce_batch_at(pipeline, number);
    const uint64_t start = number * ROCE_BATCH;
    unsigned int counts[ROCE_JUDGES] = {0};
    for (unsigned int i = 0; i < batch->count; i++) {
        struct roce_routed *routed = &batch->routed[i];
        if (!roce_route(pipeline->oracle, &batch->records[i], &batch->packets[i], false, routed)) {
            judge_alone(pipeline, batch, start, i);
            continue;
        }
        const uint8_t judge = routed->judge;
        if (judge == ROCE_JUDGES)
            continue;
        batch->places[judge][counts[judge]] = (uint16_t)i;
        atomic_store_explicit(&batch->counts[judge], ++counts[judge], memory_order_release);
    }
    atomic_store(&pipeline->routed, start + ROCE_BATCH);
}

static bool can_route(const struct roce_pipeline *pipeline) {
    return atomic_load(&roce_batch_at(pipeline, atomic_load(&pipeline->to_route))->inspected);
}

void roce_route_batches(struct roce_pipeline *pipeline) {
    while (can_route(pipeline) && pthread_mutex_trylock(&pipeline->routing) == 0) {
        while (can_route(pipeline)) {
            const uint64_t number = atomic_load(&pipeline->to_route);
            atomic_store(&roce_batch_at(pipeline, number)->inspected, false);
            route_batch(pipeline, number);
            atomic_store(&pipeline->to_route, number + 1);
        }
        pthread_mutex_unlock(&pipeline->routing);
    }
}

void roce_judge_batches(struct roce_pipeline *pipeline, unsigned int first) {
    for (unsigned int i = 0; i < ROCE_JUDGES; i++) {
        const unsigned int number = (first + i) % ROCE_JUDGES;
        struct roce_desk *desk = &pipeline->desks[number];
        while (atomic_load(&desk->done) < atomic_load(&pipeline->routed) &&
               pthread_mutex_trylock(&desk->lock) == 0) {
            judge_told(pipeline, number);
            pthread_mutex_unlock(&desk->lock);
        }
    }
}

static bool can_report(const struct roce_pipeline *pipeline) {
    const uint64_t end = (atomic_load(&pipeline->to_report) + 1) * ROCE_BATCH;
    for (unsigned int i = 0; i < ROCE_JUDGES; i++)
        if (atomic_load(&pipeline->desks[i].done) < end)
            return false;
    return true;
}

// Report on a batch and give back its place and its packets.
static void report_batch(struct roce_pipeline *pipeline) {
    const uint64_t number = atomic_load(&pipeline->to_report);
    struct roce_batch *batch = roce_batch_at(pipeline, number);
    roce_report_kept(batch->findings, pipeline->report, pipeline->report_context);
    for (unsigned int i = 0; i < ROCE_JUDGES; i++)
        atomic_store_explicit(&batch->counts[i], 0, memory_order_relaxed);
    const uint64_t last = batch->count > 0 ? batch->records[batch->count - 1].number : 0;
    atomic_store(&pipeline->to_report, number + 1);
    pthread_mutex_lock(&pipeline->reading);
    if (last > 0)
        roce_capture_release(pipeline->capture, last);
    pipeline->through++;
    if (pipeline->progress != NULL)
        pipeline->progress(pipeline->context, pipeline->capture);
    pthread_cond_broadcast(&pipeline->room);
    pthread_mutex_unlock(&pipeline->reading);
}

void roce_report_batches(struct roce_pipeline *pipeline) {
    while (can_report(pipeline) && pthread_mutex_trylock(&pipeline->reporting) == 0) {
        while (can_report(pipeline))
            report_batch(pipeline);
        pthread_mutex_unlock(&pipeline->reporting);
    }
}
