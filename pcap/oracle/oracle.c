// SPDX-License-Identifier: BSD-2-Clause
//
// All judges together, one frame after the other.

#include "oracle/oracle.h"

#include <stdlib.h>

#include "oracle/judging.h"
#include "requests/gaps.h"
#include "routing/routing.h"
#include "rules/rules.h"

struct roce_oracle *roce_oracle_create(const struct roce_facts *facts, roce_report *report,
                                       void *context) {
    struct roce_oracle *oracle = calloc(1, sizeof *oracle);
    if (oracle == NULL)
        return NULL;
    oracle->facts = facts;
    for (uint8_t i = 0; i < ROCE_JUDGES; i++)
        oracle->judges[i] = (struct roce_judge){
            .oracle = oracle, .facts = facts, .report = report, .context = context, .number = i};
    oracle->requests = calloc(ROCE_CM_REQUESTS, sizeof *oracle->requests);
    const bool opened = roce_flow_table_open(&oracle->table);
    if (!roce_routes_open(&oracle->routes) || !opened || oracle->requests == NULL) {
        roce_oracle_destroy(oracle);
        return NULL;
    }
    return oracle;
}

void roce_oracle_destroy(struct roce_oracle *oracle) {
    roce_flow_table_close(&oracle->table);
    roce_routes_close(&oracle->routes);
    free(oracle->requests);
    free(oracle);
}

static inline const struct roce_flow *judge(struct roce_oracle *oracle,
                                            const struct roce_record *record,
                                            const struct roce_packet *packet) {
    struct roce_routed routed;
    roce_route(oracle, record, packet, true, &routed);
    if (routed.judge < ROCE_JUDGES)
        roce_judge_routed(&oracle->judges[routed.judge], record, packet, &routed);
    return routed.flow;
}

const struct roce_flow *roce_judge(struct roce_oracle *oracle, const struct roce_record *record,
                                   const struct roce_packet *packet) {
    return judge(oracle, record, packet);
}

void roce_judge_few(struct roce_oracle *oracle, const struct roce_record *records,
                    const struct roce_packet *packets, unsigned int count) {
    for (unsigned int i = 0; i < count; i++)
        judge(oracle, &records[i], &packets[i]);
}

void roce_finish(struct roce_oracle *oracle) {
    for (uint32_t i = 0; i < oracle->table.count; i++) {
        struct roce_flow *flow = oracle->table.flows[i];
        roce_gaps_report(&oracle->judges[flow->judge], flow);
        roce_msn_give_up(&oracle->judges[flow->judge], flow);
    }
}

static void add(struct roce_totals *sum, const struct roce_totals *part) {
    sum->roce_frames += part->roce_frames;
    sum->untracked += part->untracked;
    for (int i = 0; i < 3; i++) {
        sum->icrc[i] += part->icrc[i];
        sum->severities[i] += part->severities[i];
    }
    for (int rule = 0; rule < RULE_COUNT; rule++)
        sum->rules[rule] += part->rules[rule];
}

const struct roce_totals *roce_oracle_totals(struct roce_oracle *oracle) {
    oracle->totals = (struct roce_totals){.frames = oracle->frames};
    for (uint32_t i = 0; i < ROCE_JUDGES; i++)
        add(&oracle->totals, &oracle->judges[i].totals);
    return &oracle->totals;
}

uint32_t roce_oracle_flows(const struct roce_oracle *oracle) {
    return oracle->table.begun_count;
}

const struct roce_flow *roce_oracle_flow(const struct roce_oracle *oracle, uint32_t index) {
    return oracle->table.begun[index];
}
