// SPDX-License-Identifier: BSD-2-Clause
//
// Every thread reads a batch, inspects it where its processor has it at hand, and
// leaves it in a ring. Reading is one thread's work at a time, and so is judging; the
// thread that finds the ring's oldest batch inspected judges all that are, in order.
// Nobody waits for a turn: a thread waits only while the ring is full.

#define _GNU_SOURCE // PTHREAD_MUTEX_ADAPTIVE_NP

#include "check_batches.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BATCH = 128, RING = 64, RELEASE = 256, MOST_THREADS = RING / 2 };

struct batch {
    atomic_bool inspected;
    unsigned int count;
    struct roce_record records[BATCH];
    struct roce_packet packets[BATCH];
};

struct pipeline {
    struct roce_capture *capture;
    struct roce_oracle *oracle;
    roce_progress *progress;
    void *context;
    pthread_mutex_t reading; // guards the capture and the next three
    pthread_cond_t room;     // batches were judged
    enum roce_capture_status status;
    uint64_t read; // batches so far
    uint64_t judged;
    pthread_mutex_t judging;     // guards the oracle and the next one; taken before `reading`
    atomic_uint_fast64_t oldest; // the batch to judge next
    struct batch ring[RING];
};

// Read the next batch once there is room for it; NULL at the end of the capture.
static struct batch *read_batch(struct pipeline *pipeline) {
    pthread_mutex_lock(&pipeline->reading);
    while (pipeline->read - pipeline->judged == RING)
        pthread_cond_wait(&pipeline->room, &pipeline->reading);
    struct batch *batch = NULL;
    if (pipeline->status == ROCE_CAPTURE_PACKET) {
        batch = &pipeline->ring[pipeline->read++ % RING];
        batch->count = 0;
        while (batch->count < BATCH &&
               (pipeline->status = roce_capture_next(
                    pipeline->capture, &batch->records[batch->count])) == ROCE_CAPTURE_PACKET)
            batch->count++;
    }
    pthread_mutex_unlock(&pipeline->reading);
    return batch;
}

static struct batch *oldest(struct pipeline *pipeline) {
    return &pipeline->ring[atomic_load(&pipeline->oldest) % RING];
}

// Judge a batch and give back its place and its packets.
static void judge(struct pipeline *pipeline, struct batch *batch) {
    for (unsigned int i = 0; i < batch->count; i++)
        roce_judge(pipeline->oracle, &batch->records[i], &batch->packets[i]);
    atomic_store(&batch->inspected, false);
    atomic_fetch_add(&pipeline->oldest, 1);
    pthread_mutex_lock(&pipeline->reading);
    if (batch->count > 0)
        roce_capture_release(pipeline->capture, batch->records[batch->count - 1].number);
    pipeline->judged++;
    if (pipeline->progress != NULL)
        pipeline->progress(pipeline->context, pipeline->capture);
    pthread_cond_broadcast(&pipeline->room);
    pthread_mutex_unlock(&pipeline->reading);
}

// Judge all batches that are inspected up to the first that is not, unless another thread is at it,
// who then looks again after this one's batch was marked.
static void judge_inspected(struct pipeline *pipeline) {
    while (atomic_load(&oldest(pipeline)->inspected) &&
           pthread_mutex_trylock(&pipeline->judging) == 0) {
        while (atomic_load(&oldest(pipeline)->inspected))
            judge(pipeline, oldest(pipeline));
        pthread_mutex_unlock(&pipeline->judging);
    }
}

static void *work(void *argument) {
    struct pipeline *pipeline = argument;
    for (struct batch *batch; (batch = read_batch(pipeline)) != NULL;) {
        for (unsigned int i = 0; i < batch->count; i++)
            roce_inspect(&batch->records[i], &batch->packets[i]);
        atomic_store(&batch->inspected, true);
        judge_inspected(pipeline);
    }
    return NULL;
}

// A batch is read in microseconds, less than it takes to sleep and wake.
static void open_locks(struct pipeline *pipeline) {
    pthread_mutexattr_t spinning;
    pthread_mutexattr_init(&spinning);
    pthread_mutexattr_settype(&spinning, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&pipeline->reading, &spinning);
    pthread_mutexattr_destroy(&spinning);
    pthread_mutex_init(&pipeline->judging, NULL);
    pthread_cond_init(&pipeline->room, NULL);
}

static void close_locks(struct pipeline *pipeline) {
    pthread_cond_destroy(&pipeline->room);
    pthread_mutex_destroy(&pipeline->judging);
    pthread_mutex_destroy(&pipeline->reading);
}

static enum roce_capture_status run_alone(struct roce_capture *capture, struct roce_oracle *oracle,
                                          roce_progress *progress, void *context) {
    enum roce_capture_status status;
    struct roce_record record;
    struct roce_packet packet;
    for (unsigned int count = 1;
         (status = roce_capture_next(capture, &record)) == ROCE_CAPTURE_PACKET; count++) {
        roce_inspect(&record, &packet);
        roce_judge(oracle, &record, &packet);
        if (count % RELEASE != 0)
            continue;
        roce_capture_release(capture, record.number);
        if (progress != NULL)
            progress(context, capture);
    }
    return status;
}

enum roce_capture_status roce_check_capture(struct roce_capture *capture,
                                            struct roce_oracle *oracle, unsigned int threads,
                                            roce_progress *progress, void *context) {
    struct pipeline *pipeline = threads > 1 ? calloc(1, sizeof *pipeline) : NULL;
    if (pipeline == NULL)
        return run_alone(capture, oracle, progress, context);
    pipeline->capture = capture;
    pipeline->oracle = oracle;
    pipeline->progress = progress;
    pipeline->context = context;
    open_locks(pipeline);
    pthread_t others[MOST_THREADS];
    unsigned int running = 0;
    while (running < MOST_THREADS && running + 1 < threads &&
           pthread_create(&others[running], NULL, work, pipeline) == 0)
        running++;
    work(pipeline);
    while (running > 0)
        pthread_join(others[--running], NULL);
    const enum roce_capture_status status = pipeline->status;
    close_locks(pipeline);
    free(pipeline);
    return status;
}
