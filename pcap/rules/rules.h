// SPDX-License-Identifier: BSD-2-Clause
//
// What the files of rules decide of the frame that is being judged.

#ifndef ROCEPROOF_RULES_H
#define ROCEPROOF_RULES_H

#include "judge/judge.h"

// network.c, header.c: rules that the frame decides by itself.
void roce_judge_broken(struct roce_judge *judge);
void roce_judge_network(struct roce_judge *judge); // Ethernet, IP, UDP
void roce_judge_bth(struct roce_judge *judge);
bool roce_judge_headers(struct roce_judge *judge); // false: judge no further
void roce_judge_forms(struct roce_judge *judge);   // payload, AETH, DETH, CNP
bool roce_middle_has_aeth(const struct roce_judge *judge, uint32_t path_mtu);

// icrc.c: false if the packet has no ICRC at all.
bool roce_judge_icrc(struct roce_judge *judge);

// constant.c: what must not change within a flow, and what is configured.
void roce_judge_destination(struct roce_judge *judge);
void roce_judge_constants(struct roce_judge *judge);
void roce_judge_configured(struct roce_judge *judge); // requests and responses

// request.c, psn.c, message.c
void roce_judge_request(struct roce_judge *judge);
void roce_judge_psn(struct roce_judge *judge, int64_t distance);
void roce_take_datagram(struct roce_judge *judge);
void roce_judge_message(struct roce_judge *judge);

// response.c, read.c, msn.c; `asked` are the requests that are answered
void roce_judge_response(struct roce_judge *judge);
struct roce_read *roce_read_answered(const struct roce_judge *judge,
                                     const struct roce_requests *asked, int64_t q);
void roce_judge_data(struct roce_judge *judge, struct roce_flow *asked, struct roce_read *read,
                     int64_t q);
void roce_judge_reads_acked(struct roce_judge *judge, struct roce_requests *asked, int64_t q);
void roce_judge_msn(struct roce_judge *judge, struct roce_requests *asked, int64_t q,
                    struct roce_read *read);
void roce_msn_give_up(struct roce_judge *judge, struct roce_flow *flow); // waiting for a third

// management.c, congestion.c
void roce_judge_mad(struct roce_judge *judge);
void roce_take_management(struct roce_judge *judge);
void roce_judge_cnp(struct roce_judge *judge);

#endif
