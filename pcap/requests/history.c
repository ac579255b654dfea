// SPDX-License-Identifier: BSD-2-Clause
//
// The requests of a flow by their PSNs, so that copies are known: each in the place
// that its PSN gives it in a ring of 1024, in place of any other there. The ring
// grows as far as it is needed.

#include "requests/history.h"

#include <string.h>

enum { FIRST_SLOTS = 32 };

const struct roce_sent *roce_sent_at(const struct roce_requests *requests, uint32_t psn) {
    if (requests->sent_slots == 0)
        return NULL;
    const struct roce_sent *sent = roce_sent_slot(requests, psn);
    return sent->present && sent->psn == psn ? sent : NULL;
}

static bool grow(struct roce_judge *judge, struct roce_requests *requests) {
    const uint32_t slots = requests->sent_slots ? 2 * requests->sent_slots : FIRST_SLOTS;
    struct roce_sent *sent = roce_flow_allocate(&judge->memory, slots * sizeof *sent);
    if (sent == NULL)
        return false;
    for (uint32_t i = 0; i < requests->sent_slots; i++)
        if (requests->sent[i].present)
            sent[requests->sent[i].psn & (slots - 1)] = requests->sent[i];
    roce_flow_release(&judge->memory, requests->sent, requests->sent_slots * sizeof *sent);
    requests->sent = sent;
    requests->sent_slots = slots;
    return true;
}

static bool has_room(const struct roce_requests *requests, uint32_t psn) {
    return requests->sent_slots != 0 &&
           (!roce_sent_slot(requests, psn)->present || roce_sent_slot(requests, psn)->psn == psn);
}

void roce_sent_keep_wider(struct roce_judge *judge, struct roce_requests *requests,
                          const struct roce_packet *packet) {
    while (requests->sent_slots < ROCE_KEPT_PSNS && !has_room(requests, packet->psn))
        if (!grow(judge, requests))
            break;
    if (requests->sent_slots != 0)
        roce_sent_put(requests, packet);
}
