// SPDX-License-Identifier: BSD-2-Clause
//
// The lines that roce-check prints, one JSON object each:
//
//   {"type":"finding","rule":"PSN-02","severity":"must","frame":17,"flow":0,
//    "expected":"PSN 0x000005","got":"0x000007"}     flow is null for none
//   {"type":"flow","source":"10.0.0.1","destination":"10.0.0.2","qpn":17,"interface":0,
//    "service":"RC","path_mtu":1024,"first_frame":1,"first_psn":1,"last_psn":9,"requests":9,
//    "messages":3,"responses":0,"cnps":0,"bytes":9000,"copies":0,"lost_by_capture":0,
//    "restarts":0,"ack_requests":3,"acks":0,"naks":0,"rnr_naks":0,"last_msn":null,
//    "least_cnp_ns":null,"unfinished":null,"unanswered":null,
//    "counterpart":1}
//                                                    flows are numbered from 0 in this order;
//    "unfinished":{"operation":"WRITE","frame":8,"bytes":2048,"length":9000,"from_start":true}
//                                                    a message without its LAST; length may be null
//    "unanswered":{"operation":"RC READ REQUEST","frame":9,"of":4,"responses":2}
//                                                    of may be null
//   {"type":"progress","consumed":4096,"total":9000}  bytes; total 0 if unknown
//   {"type":"summary","frames":20,"roce_frames":18,"icrc":{"ok":18,"bad":0,"unchecked":0},
//    "rules":{"PSN-02":1},"severities":{"must":1,"should":0,"info":0},"untracked":0,
//    "error":null}                                   error: why the capture could not be read on
//
// Findings come as they are decided, then flows, then one summary.

#ifndef ROCEPROOF_CHECK_LINES_H
#define ROCEPROOF_CHECK_LINES_H

#include <stdio.h>

#include "oracle/oracle.h"

// A string in quotes.
void roce_print_text(FILE *out, const char *text);

void roce_print_finding(FILE *out, const struct roce_finding *finding);
void roce_print_progress(FILE *out, uint64_t consumed, uint64_t total);
void roce_print_flows(FILE *out, const struct roce_oracle *oracle);
void roce_print_summary(FILE *out, struct roce_oracle *oracle, const char *error);

#endif
