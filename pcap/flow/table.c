// SPDX-License-Identifier: BSD-2-Clause

#include "flow/table.h"

#include <stdlib.h>
#include <string.h>

#include "flow/hash.h"

enum {
    FIRST_BUCKETS = 256,
    MOST_FLOWS = 1 << 16,
};

#define MOST_MEMORY ((size_t)96 / ROCE_JUDGES << 20)

static uint64_t hash_key(const struct roce_flow_table *table, const struct roce_key *key) {
    const uint64_t hash = roce_address_hash(table->seed, &key->source);
    return roce_hash(roce_address_hash(hash, &key->destination),
                     (uint64_t)key->interface << 32 | key->qpn);
}

static bool same_key(const struct roce_key *a, const struct roce_key *b) {
    return a->qpn == b->qpn && a->interface == b->interface &&
           roce_same_address(&a->source, &b->source) &&
           roce_same_address(&a->destination, &b->destination);
}

bool roce_flow_table_open(struct roce_flow_table *table) {
    memset(table, 0, sizeof *table);
    table->seed = roce_hash_seed(table);
    table->bucket_mask = FIRST_BUCKETS - 1;
    table->buckets = calloc(FIRST_BUCKETS, sizeof *table->buckets);
    return table->buckets != NULL;
}

static void free_read(struct roce_read *read) {
    free(read->seen.bytes);
    free(read->restarts.bytes);
}

static void free_flow(struct roce_flow *flow) {
    for (uint32_t i = 0; i < flow->requests.read_count && i < ROCE_KEPT_READS; i++)
        free_read(&flow->requests.reads[i]);
    for (uint32_t i = 0; i < flow->requests.gap_count; i++)
        free(flow->requests.gaps[i].filled);
    free(flow->requests.reads);
    free(flow->requests.gaps);
    free(flow->requests.sent);
    free(flow->requests.msn_counter.ends);
    free(flow);
}

void roce_flow_table_close(struct roce_flow_table *table) {
    for (uint32_t i = 0; i < table->count; i++)
        free_flow(table->flows[i]);
    free(table->flows);
    free(table->begun);
    free(table->buckets);
}

static uint32_t *bucket_of(const struct roce_flow_table *table, const struct roce_key *key) {
    uint32_t at = (uint32_t)hash_key(table, key) & table->bucket_mask;
    while (table->buckets[at] != 0 && !same_key(&table->flows[table->buckets[at] - 1]->key, key))
        at = (at + 1) & table->bucket_mask;
    return &table->buckets[at];
}

static uint32_t place_of(uint32_t qpn, const uint8_t *source, uint32_t bytes) {
    return (qpn ^ (uint32_t)source[bytes - 1] << 3) % ROCE_RECENT_FLOWS;
}

static struct roce_flow *at_hand(struct roce_flow_table *table, struct roce_flow *flow) {
    const struct roce_key *key = &flow->key;
    const uint32_t bytes = key->source.version == 4 ? 4 : 16;
    table->recent[place_of(key->qpn, key->source.bytes, bytes)] = flow;
    return flow;
}

struct roce_flow *roce_flow_recent(const struct roce_flow_table *table, uint32_t interface,
                                   const struct roce_packet *packet) {
    const bool four = packet->version == 4;
    const uint8_t *source = packet->frame + packet->ip + (four ? 12 : 8);
    struct roce_flow *flow = table->recent[place_of(packet->qpn, source, four ? 4 : 16)];
    if (flow == NULL)
        return NULL;
    const struct roce_key *key = &flow->key;
    const bool same = key->qpn == packet->qpn && key->interface == interface &&
                      key->source.version == packet->version &&
                      (four ? memcmp(key->source.bytes, source, 4) == 0 &&
                                  memcmp(key->destination.bytes, source + 4, 4) == 0
                            : memcmp(key->source.bytes, source, 16) == 0 &&
                                  memcmp(key->destination.bytes, source + 16, 16) == 0);
    return same ? flow : NULL;
}

struct roce_flow *roce_flow_find(struct roce_flow_table *table, const struct roce_key *key) {
    const uint32_t found = *bucket_of(table, key);
    return found == 0 ? NULL : at_hand(table, table->flows[found - 1]);
}

static bool widen(struct roce_flow_table *table) {
    if (table->count == table->capacity) {
        const uint32_t capacity = table->capacity ? 2 * table->capacity : 16;
        struct roce_flow **flows = realloc(table->flows, capacity * sizeof(struct roce_flow *));
        if (flows == NULL)
            return false;
        table->flows = flows;
        struct roce_flow **begun = realloc(table->begun, capacity * sizeof(struct roce_flow *));
        if (begun == NULL)
            return false;
        table->begun = begun;
        table->capacity = capacity;
    }
    if (2 * table->count < table->bucket_mask)
        return true;
    const uint32_t mask = 2 * table->bucket_mask + 1;
    uint32_t *buckets = calloc((size_t)mask + 1, sizeof *buckets);
    if (buckets == NULL)
        return false;
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_mask = mask;
    for (uint32_t i = 0; i < table->count; i++)
        *bucket_of(table, &table->flows[i]->key) = i + 1;
    return true;
}

struct roce_flow *roce_flow_get(struct roce_flow_table *table, const struct roce_key *key,
                                bool *made) {
    *made = false;
    struct roce_flow *flow = roce_flow_find(table, key);
    if (flow != NULL)
        return flow;
    if (table->count == MOST_FLOWS || !widen(table))
        return NULL;
    flow = calloc(1, sizeof *flow);
    if (flow == NULL)
        return NULL;
    flow->key = *key;
    flow->number = -1;
    table->flows[table->count++] = flow;
    *bucket_of(table, key) = table->count;
    at_hand(table, flow);
    *made = true;
    return flow;
}

void *roce_flow_allocate(struct roce_memory *memory, size_t bytes) {
    const bool fits = memory->bytes <= MOST_MEMORY && bytes <= MOST_MEMORY - memory->bytes;
    void *room = fits ? calloc(1, bytes) : NULL;
    if (room != NULL)
        memory->bytes += bytes;
    else
        memory->refused = true;
    return room;
}

void roce_flow_release(struct roce_memory *memory, void *at, size_t bytes) {
    if (at != NULL)
        memory->bytes -= bytes;
    free(at);
}

size_t roce_flow_bytes(const struct roce_flow *flow) {
    const struct roce_requests *requests = &flow->requests;
    size_t bytes = requests->sent_slots * sizeof *requests->sent +
                   requests->msn_counter.slots * sizeof *requests->msn_counter.ends;
    if (requests->reads != NULL)
        bytes += ROCE_KEPT_READS * sizeof *requests->reads;
    if (requests->gaps != NULL)
        bytes += ROCE_KEPT_GAPS * sizeof *requests->gaps;
    for (uint32_t i = 0; i < requests->read_count && i < ROCE_KEPT_READS; i++)
        bytes += requests->reads[i].seen.size + requests->reads[i].restarts.size;
    for (uint32_t i = 0; i < requests->gap_count; i++)
        bytes += roce_gap_bytes(&requests->gaps[i]);
    return bytes;
}
