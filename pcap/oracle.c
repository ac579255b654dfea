// SPDX-License-Identifier: BSD-2-Clause
//
// The order in which the rules see a frame.
//
// Decides ETH-01, IP-14, UDP-01.

#include "oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

struct roce_oracle *roce_oracle_create(const struct roce_facts *facts, roce_report *report,
                                       void *context) {
    struct roce_oracle *oracle = calloc(1, sizeof *oracle);
    if (oracle == NULL)
        return NULL;
    oracle->facts = facts;
    oracle->report = report;
    oracle->context = context;
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

const char *roce_text(struct roce_oracle *oracle, const char *format, ...) {
    char *text = oracle->texts[oracle->text++ % ROCE_TEXTS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, ROCE_TEXT_BYTES, format, arguments);
    va_end(arguments);
    return text;
}

static void tell(struct roce_oracle *oracle, const struct roce_finding *finding) {
    oracle->totals.rules[finding->rule]++;
    oracle->totals.severities[finding->severity]++;
    oracle->report(oracle->context, finding);
}

void roce_found_as(struct roce_oracle *oracle, enum roce_rule rule, enum roce_severity severity,
                   const char *expected, const char *got) {
    const int64_t flow = oracle->flow ? oracle->flow->number : -1;
    tell(oracle,
         &(struct roce_finding){rule, severity, oracle->record->number, flow, expected, got});
}

void roce_found(struct roce_oracle *oracle, enum roce_rule rule, const char *expected,
                const char *got) {
    roce_found_as(oracle, rule, roce_rule_severity(rule), expected, got);
}

void roce_found_at(struct roce_oracle *oracle, enum roce_rule rule, uint64_t frame,
                   const struct roce_flow *flow, const char *expected, const char *got) {
    tell(oracle, &(struct roce_finding){rule, roce_rule_severity(rule), frame, flow->number,
                                        expected, got});
}

static void read_key(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    const uint8_t *ip = packet->frame + packet->ip;
    struct roce_key *key = &oracle->key;
    memset(key, 0, sizeof *key);
    key->interface = oracle->record->interface;
    key->qpn = packet->qpn;
    key->source.version = key->destination.version = packet->version;
    if (packet->version == 4) {
        memcpy(key->source.bytes, ip + 12, 4);
        memcpy(key->destination.bytes, ip + 16, 4);
    } else {
        memcpy(key->source.bytes, ip + 8, 16);
        memcpy(key->destination.bytes, ip + 24, 16);
    }
}

static bool has_flow_rules(const struct roce_packet *packet) {
    return packet->opcode < 0xA0;
}

// A packet that cannot be judged on: its flow picks up behind it.
static void resynchronise(struct roce_oracle *oracle) {
    const bool other = oracle->row->family == ROCE_CNP || roce_is_response(oracle->row) ||
                       !has_flow_rules(oracle->packet);
    if (!other && oracle->flow != NULL)
        roce_resynchronise(oracle->flow);
}

static void find_flow(struct roce_oracle *oracle) {
    struct roce_flow *flow = roce_flow_of(oracle, &oracle->key);
    oracle->flow = flow;
    if (flow == NULL) {
        oracle->table.refused++;
        return;
    }
    if (flow->number < 0) {
        flow->number = oracle->table.begun_count;
        flow->first_frame = oracle->record->number;
        oracle->table.begun[oracle->table.begun_count++] = flow;
    }
    flow->count.bytes += oracle->packet->full_size;
}

static void count_packet(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    if (oracle->row->family == ROCE_CNP)
        flow->count.cnps++;
    else if (roce_is_response(oracle->row))
        flow->count.responses++;
    else
        flow->count.requests++;
}

static void judge_flow(struct roce_oracle *oracle) {
    struct roce_flow *flow = oracle->flow;
    const bool request = roce_is_request(oracle->row);
    if (!roce_is_trusted(oracle)) {
        flow->requests.lost_bad += request;
        return;
    }
    roce_judge_destination(oracle);
    if (request) {
        roce_judge_request(oracle);
        if (oracle->packet->qpn == 1)
            roce_take_management(oracle);
        return;
    }
    roce_judge_constants(oracle);
    if (oracle->row->family == ROCE_CNP)
        roce_judge_cnp(oracle);
    else
        roce_judge_response(oracle);
}

static void judge_roce(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    oracle->row = roce_opcode(packet->opcode);
    read_key(oracle);
    if (packet->fault != ROCE_SOUND) {
        oracle->flow = packet->has_bth ? roce_flow_find(&oracle->table, &oracle->key) : NULL;
        roce_judge_broken(oracle);
        resynchronise(oracle);
        return;
    }
    if (packet->has_bth)
        find_flow(oracle);
    roce_judge_network(oracle);
    if (!packet->has_bth)
        return;
    const bool icrc = roce_judge_icrc(oracle);
    struct roce_flow *flow = oracle->flow;
    if (flow != NULL && packet->verdict == ROCE_OK)
        flow->trusted_icrc = true;
    if (!has_flow_rules(packet))
        return;
    roce_judge_bth(oracle);
    if (oracle->row->family == ROCE_RESERVED || !icrc || !roce_judge_headers(oracle)) {
        resynchronise(oracle);
        return;
    }
    roce_judge_forms(oracle);
    if (flow == NULL)
        return;
    count_packet(oracle);
    judge_flow(oracle);
}

static void note_icrc(struct roce_oracle *oracle) {
    const struct roce_packet *packet = oracle->packet;
    oracle->totals.icrc[packet->verdict]++;
    const uint32_t interface = oracle->record->interface;
    if (packet->verdict == ROCE_UNCHECKED || interface >= ROCE_INTERFACES)
        return;
    oracle->previous[interface].right = packet->right;
    oracle->previous[interface].known = true;
}

void roce_judge(struct roce_oracle *oracle, const struct roce_record *record,
                const struct roce_packet *packet) {
    oracle->record = record;
    oracle->packet = packet;
    oracle->flow = NULL;
    oracle->totals.frames++;
    const uint64_t refused = oracle->table.refused;
    switch ((enum roce_class)packet->class) {
    case ROCE_OTHER:
        break;
    case ROCE_MISDIRECTED:
        roce_found(oracle, RULE_UDP_01, "port 4791", roce_text(oracle, "port %u", packet->port));
        break;
    case ROCE_WRONG_ETHER:
        roce_found(oracle, RULE_ETH_01, "a GRH behind EtherType 0x8915", "an IPv4 header");
        break;
    case ROCE_EXTENDED:
        oracle->totals.roce_frames++;
        oracle->totals.icrc[ROCE_UNCHECKED]++;
        roce_found(oracle, RULE_IP_14, "UDP directly behind the IPv6 header",
                   roce_text(oracle, "next header %u", packet->frame[packet->ip + 6]));
        break;
    case ROCE_V1:
    case ROCE_V2:
        oracle->totals.roce_frames++;
        judge_roce(oracle);
        if (packet->has_bth)
            roce_note_mark(oracle);
        note_icrc(oracle);
        break;
    }
    oracle->totals.untracked += oracle->table.refused != refused;
}

void roce_finish(struct roce_oracle *oracle) {
    for (uint32_t i = 0; i < oracle->table.count; i++)
        roce_gaps_report(oracle, oracle->table.flows[i]);
}

const struct roce_totals *roce_oracle_totals(const struct roce_oracle *oracle) {
    return &oracle->totals;
}

uint32_t roce_oracle_flows(const struct roce_oracle *oracle) {
    return oracle->table.begun_count;
}

const struct roce_flow *roce_oracle_flow(const struct roce_oracle *oracle, uint32_t index) {
    return oracle->table.begun[index];
}
