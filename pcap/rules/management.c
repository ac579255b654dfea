// SPDX-License-Identifier: BSD-2-Clause
//
// Connection management on QP1: docs/observer.md, section 5. Offsets are those of the MAD, common
// header included.
//
// Decides CM-01, CM-02, CM-03.

#include <string.h>

#include "routing/flow_begin.h"
#include "routing/shared.h"
#include "rules/restart.h"
#include "rules/rules.h"

enum {
    DETH_BYTES = 8,
    MAD_BYTES = 256,
    CM_CLASS = 7,
    CM_VERSION = 2,
    SEND_METHOD = 3,
    CLASS_PORT_INFO = 0x01,
    REQ = 0x10,
    REP = 0x13,
    LAST_ATTRIBUTE = 0x1A,
    TRANSACTION = 8,
    ATTRIBUTE = 16,
    REQ_LOCAL_ID = 24,
    REQ_QPN = 56,
    REQ_SERVICE = 67,
    REQ_PSN = 68,
    REQ_MTU = 74,
    REP_LOCAL_ID = 24,
    REP_REMOTE_ID = 28,
    REP_QPN = 36,
    REP_PSN = 44,
};

static const uint32_t GSI_QKEY = 0x80010000;

static bool is_known_attribute(const uint8_t *mad) {
    const uint16_t attribute = roce_u16(mad + ATTRIBUTE);
    if (attribute == CLASS_PORT_INFO)
        return mad[3] == 1 || mad[3] == 2 || mad[3] == 0x81;
    return attribute >= REQ && attribute <= LAST_ATTRIBUTE && mad[3] == SEND_METHOD;
}

static const uint8_t *mad_of(const struct roce_judge *judge, uint32_t bytes) {
    if (judge->packet->opcode != 0x64 || judge->payload < bytes ||
        !roce_body_has(judge->packet, DETH_BYTES + bytes))
        return NULL;
    const uint8_t *mad = roce_body(judge->packet) + DETH_BYTES;
    return mad[1] == CM_CLASS ? mad : NULL;
}

static bool is_sound(const uint8_t *mad) {
    return mad[0] == 1 && mad[2] == CM_VERSION && is_known_attribute(mad);
}

static void judge_datagram(struct roce_judge *judge) {
    const struct roce_packet *packet = judge->packet;
    if (packet->opcode != 0x64) {
        roce_found(judge, RULE_CM_01, "opcode 0x64", roce_text(judge, "0x%02x", packet->opcode));
        return;
    }
    const bool has_deth = roce_body_has(packet, DETH_BYTES);
    const uint32_t qkey = has_deth ? roce_u32(roce_body(packet)) : GSI_QKEY;
    const uint32_t source = has_deth ? roce_u24(roce_body(packet) + 5) : 1;
    if (qkey != GSI_QKEY || source != 1 || judge->payload != MAD_BYTES)
        roce_found_as(judge, RULE_CM_01,
                      qkey != GSI_QKEY || judge->payload != MAD_BYTES ? ROCE_MUST : ROCE_SHOULD,
                      "Q_Key 0x80010000, source QP 1, 256 bytes",
                      roce_text(judge, "0x%08x, %u, %u", qkey, source, judge->payload));
}

void roce_judge_mad(struct roce_judge *judge) {
    judge_datagram(judge);
    const uint8_t *mad = mad_of(judge, ATTRIBUTE + 2);
    if (mad != NULL && !is_sound(mad))
        roce_found(judge, RULE_CM_02, "base version 1, class version 2, a CM attribute",
                   roce_text(judge, "%u, %u, method 0x%02x, attribute 0x%04x", mad[0], mad[2],
                             mad[3], roce_u16(mad + ATTRIBUTE)));
}

static struct roce_cm_request *find_request(struct roce_judge *judge,
                                            const struct roce_address *source,
                                            const struct roce_address *destination,
                                            uint32_t communication) {
    for (uint32_t i = 0; i < ROCE_CM_REQUESTS && i < judge->oracle->request_count; i++) {
        struct roce_cm_request *request = &judge->oracle->requests[i];
        if (request->communication == communication &&
            request->interface == judge->flow->key.interface &&
            roce_same_address(&request->source, source) &&
            roce_same_address(&request->destination, destination))
            return request;
    }
    return NULL;
}

static void take_request(struct roce_judge *judge, const uint8_t *mad) {
    const struct roce_key *key = &judge->flow->key;
    const uint32_t communication = roce_u32(mad + REQ_LOCAL_ID);
    const uint64_t transaction = roce_u64(mad + TRANSACTION);
    struct roce_cm_request *request =
        find_request(judge, &key->source, &key->destination, communication);
    if (request != NULL && request->transaction != transaction)
        roce_found(
            judge, RULE_CM_03,
            roce_text(judge, "transaction 0x%016llx", (unsigned long long)request->transaction),
            roce_text(judge, "0x%016llx", (unsigned long long)transaction));
    if (request != NULL && request->qpn == roce_u24(mad + REQ_QPN) &&
        request->psn == roce_u24(mad + REQ_PSN)) {
        request->transaction = transaction;
        return;
    }
    if (request == NULL)
        request = &judge->oracle->requests[judge->oracle->request_count++ % ROCE_CM_REQUESTS];
    const unsigned int mtu = mad[REQ_MTU] >> 4;
    *request = (struct roce_cm_request){
        .source = key->source,
        .destination = key->destination,
        .interface = key->interface,
        .communication = communication,
        .transaction = transaction,
        .qpn = roce_u24(mad + REQ_QPN),
        .psn = roce_u24(mad + REQ_PSN),
        .path_mtu = mtu >= 1 && mtu <= 5 ? 128U << mtu : 0,
    };
}

// Notes a reply and returns whether it was noted before.
static bool repeats_answer(struct roce_cm_request *request, const uint8_t *mad) {
    const struct roce_cm_answer answer = {roce_u32(mad + REP_LOCAL_ID), roce_u24(mad + REP_QPN),
                                          roce_u24(mad + REP_PSN)};
    for (uint32_t i = 0; i < request->answer_count && i < ROCE_CM_ANSWERS; i++) {
        const struct roce_cm_answer *noted = &request->answers[i];
        if (noted->communication == answer.communication && noted->qpn == answer.qpn &&
            noted->psn == answer.psn)
            return true;
    }
    request->answers[request->answer_count++ % ROCE_CM_ANSWERS] = answer;
    return false;
}

static void take_reply(struct roce_judge *judge, const uint8_t *mad) {
    const struct roce_key *key = &judge->flow->key;
    struct roce_cm_request *request =
        find_request(judge, &key->destination, &key->source, roce_u32(mad + REP_REMOTE_ID));
    if (request == NULL || repeats_answer(request, mad))
        return;
    const struct roce_key there = {.interface = key->interface,
                                   .qpn = roce_u24(mad + REP_QPN),
                                   .source = request->source,
                                   .destination = request->destination};
    const struct roce_key back = {.interface = key->interface,
                                  .qpn = request->qpn,
                                  .source = request->destination,
                                  .destination = request->source};
    struct roce_flow *asking = roce_flow_of(judge->oracle, &there);
    struct roce_flow *answering = roce_flow_of(judge->oracle, &back);
    if (asking != NULL && answering != NULL && asking != answering)
        roce_flows_connect(judge, asking, answering,
                           (const uint32_t[2]){roce_u24(mad + REP_PSN), request->psn},
                           request->path_mtu);
}

void roce_take_management(struct roce_judge *judge) {
    const uint8_t *mad = mad_of(judge, MAD_BYTES);
    if (mad == NULL || judge->payload != MAD_BYTES || !is_sound(mad))
        return;
    const uint16_t attribute = roce_u16(mad + ATTRIBUTE);
    if (attribute == REQ)
        take_request(judge, mad);
    else if (attribute == REP)
        take_reply(judge, mad);
}
