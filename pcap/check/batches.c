// SPDX-License-Identifier: BSD-2-Clause
//
// Every thread reads a batch, inspects it where its processor has it at hand, leaves it
// in a ring, and looks what else there is to do. Reading is one thread's work at a
// time. Nobody waits for a turn: a thread waits only while the ring is full.

#define _GNU_SOURCE // PTHREAD_MUTEX_ADAPTIVE_NP

#include "check/batches.h"

#include <stdlib.h>

#include "check/stages.h"
#include "packet/inspector.h"

enum { RING_A_THREAD = 4, RELEASE = 256, MOST_THREADS = 16 };

// Packets that a thread alone takes through all stages at once; they stay in its nearest memory.
enum { FEW = 32 };

// Read the next batch once there is room for it; NULL at the end of the capture.
static struct roce_batch *read_batch(struct roce_pipeline *pipeline) {
    pthread_mutex_lock(&pipeline->reading);
    while (pipeline->read - pipeline->through == pipeline->batches)
        pthread_cond_wait(&pipeline->room, &pipeline->reading);
    struct roce_batch *batch = NULL;
    if (pipeline->status == ROCE_CAPTURE_PACKET) {
        batch = roce_batch_at(pipeline, pipeline->read++);
        batch->count = 0;
        for (unsigned int few = 0; batch->count < ROCE_BATCH; batch->count += few) {
            pipeline->status = roce_capture_next_few(
                pipeline->capture, &batch->records[batch->count], ROCE_BATCH - batch->count, &few);
            if (pipeline->status != ROCE_CAPTURE_PACKET)
                break;
        }
    }
    pthread_mutex_unlock(&pipeline->reading);
    return batch;
}

struct worker {
    struct roce_pipeline *pipeline;
    unsigned int number;
    pthread_t thread;
};

static void *work(void *argument) {
    const struct worker *worker = argument;
    struct roce_pipeline *pipeline = worker->pipeline;
    struct roce_inspector *inspector = roce_inspector_create(worker->number);
    for (struct roce_batch *batch; (batch = read_batch(pipeline)) != NULL;) {
        roce_inspect_few(inspector, batch->records, batch->count, batch->packets);
        atomic_store(&batch->inspected, true);
        roce_route_batches(pipeline);
        roce_judge_batches(pipeline, worker->number * (ROCE_JUDGES / 2 + 1));
        roce_report_batches(pipeline);
    }
    roce_inspector_destroy(inspector);
    return NULL;
}

// A batch is read in microseconds, less than it takes to sleep and wake.
static void open_locks(struct roce_pipeline *pipeline) {
    pthread_mutexattr_t spinning;
    pthread_mutexattr_init(&spinning);
    pthread_mutexattr_settype(&spinning, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&pipeline->reading, &spinning);
    pthread_mutexattr_destroy(&spinning);
    pthread_mutex_init(&pipeline->routing, NULL);
    pthread_mutex_init(&pipeline->reporting, NULL);
    pthread_cond_init(&pipeline->room, NULL);
    for (unsigned int i = 0; i < ROCE_JUDGES; i++)
        pthread_mutex_init(&pipeline->desks[i].lock, NULL);
}

static void close_pipeline(struct roce_pipeline *pipeline) {
    for (unsigned int i = 0; i < ROCE_JUDGES; i++) {
        pthread_mutex_destroy(&pipeline->desks[i].lock);
        pipeline->oracle->judges[i].report = pipeline->report;
        pipeline->oracle->judges[i].context = pipeline->report_context;
    }
    pthread_cond_destroy(&pipeline->room);
    pthread_mutex_destroy(&pipeline->reporting);
    pthread_mutex_destroy(&pipeline->routing);
    pthread_mutex_destroy(&pipeline->reading);
    for (unsigned int i = 0; i < pipeline->batches; i++)
        roce_kept_free(pipeline->ring[i].findings);
    free(pipeline->ring);
    free(pipeline);
}

static struct roce_pipeline *open_pipeline(struct roce_oracle *oracle, unsigned int threads) {
    const unsigned int batches = RING_A_THREAD * threads;
    struct roce_pipeline *pipeline = aligned_alloc(ROCE_LINE, sizeof *pipeline);
    struct roce_batch *ring = calloc(batches, sizeof *ring);
    if (pipeline == NULL || ring == NULL) {
        free(pipeline);
        free(ring);
        return NULL;
    }
    *pipeline = (struct roce_pipeline){.oracle = oracle,
                                       .report = oracle->judges[0].report,
                                       .report_context = oracle->judges[0].context,
                                       .batches = batches,
                                       .ring = ring};
    for (unsigned int i = 0; i < ROCE_JUDGES; i++)
        oracle->judges[i].report = roce_keep_finding;
    open_locks(pipeline);
    return pipeline;
}

static enum roce_capture_status run_alone(struct roce_capture *capture, struct roce_oracle *oracle,
                                          roce_progress *progress, void *context) {
    enum roce_capture_status status;
    struct roce_record records[FEW];
    struct roce_packet packets[FEW];
    struct roce_inspector *inspector = roce_inspector_create(0);
    unsigned int unreleased = 0;
    for (unsigned int count;
         (status = roce_capture_next_few(capture, records, FEW, &count)) == ROCE_CAPTURE_PACKET;) {
        roce_inspect_few(inspector, records, count, packets);
        roce_judge_few(oracle, records, packets, count);
        unreleased += count;
        if (unreleased < RELEASE)
            continue;
        unreleased = 0;
        roce_capture_release(capture, records[count - 1].number);
        if (progress != NULL)
            progress(context, capture);
    }
    roce_inspector_destroy(inspector);
    return status;
}

enum roce_capture_status roce_check_capture(struct roce_capture *capture,
                                            struct roce_oracle *oracle, unsigned int threads,
                                            roce_progress *progress, void *context) {
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    struct roce_pipeline *pipeline = threads > 1 ? open_pipeline(oracle, threads) : NULL;
    if (pipeline == NULL)
        return run_alone(capture, oracle, progress, context);
    pipeline->capture = capture;
    pipeline->progress = progress;
    pipeline->context = context;
    struct worker workers[MOST_THREADS] = {{.pipeline = pipeline}};
    unsigned int running = 1;
    for (; running < threads; running++) {
        workers[running] = (struct worker){.pipeline = pipeline, .number = running};
        if (pthread_create(&workers[running].thread, NULL, work, &workers[running]) != 0)
            break;
    }
    work(&workers[0]);
    while (--running > 0)
        pthread_join(workers[running].thread, NULL);
    const enum roce_capture_status status = pipeline->status;
    close_pipeline(pipeline);
    return status;
}
