// SPDX-License-Identifier: BSD-2-Clause
//
// The calling thread reads and judges, and inspects where no other thread has begun.
// Batches stand in a ring; `taken` is the claim on inspecting one, `done` that it is.

#include "check_batches.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BATCH = 256, RING = 16, MOST_THREADS = 64 };

struct batch {
    atomic_bool taken;
    atomic_bool done;
    unsigned int count;
    struct roce_record records[BATCH];
    struct roce_packet packets[BATCH];
};

struct pipeline {
    pthread_mutex_t lock;
    pthread_cond_t offered;  // a batch was filled, or it is over
    pthread_cond_t finished; // a batch was inspected
    uint64_t filled;         // number of batches offered so far
    bool over;
    struct batch ring[RING];
};

static void inspect(struct batch *batch) {
    for (unsigned int i = 0; i < batch->count; i++)
        roce_inspect(&batch->records[i], &batch->packets[i]);
}

static void *work(void *argument) {
    struct pipeline *pipeline = argument;
    pthread_mutex_lock(&pipeline->lock);
    for (uint64_t next = 0;;) {
        if (next + RING < pipeline->filled)
            next = pipeline->filled - RING;
        if (next == pipeline->filled) {
            if (pipeline->over)
                break;
            pthread_cond_wait(&pipeline->offered, &pipeline->lock);
            continue;
        }
        struct batch *batch = &pipeline->ring[next++ % RING];
        if (atomic_exchange(&batch->taken, true))
            continue;
        pthread_mutex_unlock(&pipeline->lock);
        inspect(batch);
        pthread_mutex_lock(&pipeline->lock);
        atomic_store(&batch->done, true);
        pthread_cond_signal(&pipeline->finished);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

static enum roce_capture_status fill(struct roce_capture *capture, struct batch *batch) {
    enum roce_capture_status status = ROCE_CAPTURE_PACKET;
    batch->count = 0;
    while (batch->count < BATCH) {
        status = roce_capture_next(capture, &batch->records[batch->count]);
        if (status != ROCE_CAPTURE_PACKET)
            break;
        batch->count++;
    }
    return status;
}

static void judge(struct roce_capture *capture, struct roce_oracle *oracle, struct batch *batch) {
    for (unsigned int i = 0; i < batch->count; i++)
        roce_judge(oracle, &batch->records[i], &batch->packets[i]);
    if (batch->count > 0)
        roce_capture_release(capture, batch->records[batch->count - 1].number);
}

static void await_inspection(struct pipeline *pipeline, struct batch *batch) {
    if (!atomic_exchange(&batch->taken, true)) {
        inspect(batch);
        return;
    }
    pthread_mutex_lock(&pipeline->lock);
    while (!atomic_load(&batch->done))
        pthread_cond_wait(&pipeline->finished, &pipeline->lock);
    pthread_mutex_unlock(&pipeline->lock);
}

static enum roce_capture_status run(struct pipeline *pipeline, struct roce_capture *capture,
                                    struct roce_oracle *oracle, roce_progress *progress,
                                    void *context) {
    enum roce_capture_status status = ROCE_CAPTURE_PACKET;
    for (uint64_t judged = 0; status == ROCE_CAPTURE_PACKET || judged < pipeline->filled;) {
        while (status == ROCE_CAPTURE_PACKET && pipeline->filled - judged < RING) {
            struct batch *batch = &pipeline->ring[pipeline->filled % RING];
            atomic_store(&batch->done, false);
            status = fill(capture, batch);
            pthread_mutex_lock(&pipeline->lock);
            atomic_store(&batch->taken, false);
            pipeline->filled++;
            pthread_cond_signal(&pipeline->offered);
            pthread_mutex_unlock(&pipeline->lock);
        }
        struct batch *batch = &pipeline->ring[judged++ % RING];
        await_inspection(pipeline, batch);
        judge(capture, oracle, batch);
        if (progress != NULL)
            progress(context, capture);
    }
    return status;
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
        if (count % BATCH != 0)
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
    pthread_mutex_init(&pipeline->lock, NULL);
    pthread_cond_init(&pipeline->offered, NULL);
    pthread_cond_init(&pipeline->finished, NULL);
    for (int i = 0; i < RING; i++)
        atomic_init(&pipeline->ring[i].taken, true);
    pthread_t workers[MOST_THREADS];
    unsigned int running = 0;
    while (running < MOST_THREADS && running + 1 < threads &&
           pthread_create(&workers[running], NULL, work, pipeline) == 0)
        running++;
    const enum roce_capture_status status = run(pipeline, capture, oracle, progress, context);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->over = true;
    pthread_cond_broadcast(&pipeline->offered);
    pthread_mutex_unlock(&pipeline->lock);
    while (running > 0)
        pthread_join(workers[--running], NULL);
    pthread_cond_destroy(&pipeline->finished);
    pthread_cond_destroy(&pipeline->offered);
    pthread_mutex_destroy(&pipeline->lock);
    free(pipeline);
    return status;
}
