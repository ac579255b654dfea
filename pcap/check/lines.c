// SPDX-License-Identifier: BSD-2-Clause

#include "check/lines.h"

#include <arpa/inet.h>
#include <inttypes.h>

#include "requests/reads.h"

void roce_print_text(FILE *out, const char *text) {
    putc('"', out);
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            putc('\\', out);
        if (c < 0x20 || c == 0x7F)
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

static void print_address(FILE *out, const char *key, const struct roce_address *address) {
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(address->version == 4 ? AF_INET : AF_INET6, address->bytes, text, sizeof text);
    fprintf(out, "\"%s\":\"%s\",", key, text);
}

static void print_number(FILE *out, const char *key, uint64_t number) {
    fprintf(out, "\"%s\":%" PRIu64 ",", key, number);
}

static void print_if(FILE *out, const char *key, bool known, uint64_t number) {
    if (known)
        print_number(out, key, number);
    else
        fprintf(out, "\"%s\":null,", key);
}

void roce_print_finding(FILE *out, const struct roce_finding *finding) {
    fprintf(out, "{\"type\":\"finding\",\"rule\":\"%s\",\"severity\":\"%s\",",
            roce_rule_id(finding->rule), roce_severity_name(finding->severity));
    print_number(out, "frame", finding->frame);
    print_if(out, "flow", finding->flow >= 0, (uint64_t)finding->flow);
    fputs("\"expected\":", out);
    roce_print_text(out, finding->expected);
    fputs(",\"got\":", out);
    roce_print_text(out, finding->got);
    fputs("}\n", out);
}

void roce_print_progress(FILE *out, uint64_t consumed, uint64_t total) {
    fprintf(out, "{\"type\":\"progress\",\"consumed\":%" PRIu64 ",\"total\":%" PRIu64 "}\n",
            consumed, total);
    fflush(out);
}

static const char *service_name(enum roce_service service) {
    switch (service) {
    case ROCE_RC:
        return "\"RC\"";
    case ROCE_UC:
        return "\"UC\"";
    case ROCE_UD:
        return "\"UD\"";
    default:
        return "null";
    }
}

static void print_unfinished(FILE *out, const struct roce_message *message) {
    if (!message->open) {
        fputs("\"unfinished\":null,", out);
        return;
    }
    fprintf(out, "\"unfinished\":{\"operation\":\"%s\",",
            message->family == ROCE_SEND ? "SEND" : "WRITE");
    print_number(out, "frame", message->frame);
    print_number(out, "bytes", message->carried);
    print_if(out, "length", message->has_length, message->length);
    fprintf(out, "\"from_start\":%s},", message->whole ? "true" : "false");
}

static void print_unanswered(FILE *out, const struct roce_read *read) {
    if (read == NULL) {
        fputs("\"unanswered\":null,", out);
        return;
    }
    fprintf(out, "\"unanswered\":{\"operation\":\"%s\",", roce_opcode(read->opcode)->name);
    print_number(out, "frame", read->frame);
    print_if(out, "of", read->span != 0, (uint64_t)read->span);
    fprintf(out, "\"responses\":%" PRIu32 "},", read->answered);
}

static void print_flow(FILE *out, const struct roce_flow *flow) {
    const struct roce_flow *other = flow->counterpart;
    const bool psns = flow->requests.any && flow->service != ROCE_UD;
    fputs("{\"type\":\"flow\",", out);
    print_address(out, "source", &flow->key.source);
    print_address(out, "destination", &flow->key.destination);
    print_number(out, "qpn", flow->key.qpn);
    print_number(out, "interface", flow->key.interface);
    fprintf(out, "\"service\":%s,", service_name(flow->service));
    print_if(out, "path_mtu", flow->path_mtu != 0, flow->path_mtu);
    print_number(out, "first_frame", flow->first_frame);
    print_if(out, "first_psn", psns, (uint64_t)flow->requests.first & 0xFFFFFF);
    print_if(out, "last_psn", psns, (uint64_t)flow->requests.newest & 0xFFFFFF);
    print_number(out, "requests", flow->count.requests);
    print_number(out, "messages", flow->count.messages);
    print_number(out, "responses", flow->count.responses);
    print_number(out, "cnps", flow->count.cnps);
    print_number(out, "bytes", flow->count.bytes);
    print_number(out, "copies", flow->count.copies);
    print_number(out, "lost_by_capture", flow->count.lost_by_capture);
    print_number(out, "restarts", flow->count.restarts);
    print_number(out, "ack_requests", flow->count.ack_requests);
    print_number(out, "acks", flow->count.acks);
    print_number(out, "naks", flow->count.naks);
    print_number(out, "rnr_naks", flow->count.rnr_naks);
    print_if(out, "last_msn", flow->responses.has_aeth, flow->responses.last_msn);
    print_if(out, "least_cnp_ns", flow->count.cnps > 1, flow->least_cnp_ns);
    print_unfinished(out, &flow->requests.message);
    print_unanswered(out, roce_read_unanswered(flow));
    if (other != NULL && other->number >= 0)
        fprintf(out, "\"counterpart\":%" PRId64 "}\n", other->number);
    else
        fputs("\"counterpart\":null}\n", out);
}

void roce_print_flows(FILE *out, const struct roce_oracle *oracle) {
    for (uint32_t i = 0; i < roce_oracle_flows(oracle); i++)
        print_flow(out, roce_oracle_flow(oracle, i));
}

void roce_print_summary(FILE *out, struct roce_oracle *oracle, const char *error) {
    const struct roce_totals *totals = roce_oracle_totals(oracle);
    fputs("{\"type\":\"summary\",", out);
    print_number(out, "frames", totals->frames);
    print_number(out, "roce_frames", totals->roce_frames);
    fprintf(out, "\"icrc\":{\"ok\":%" PRIu64 ",\"bad\":%" PRIu64 ",\"unchecked\":%" PRIu64 "},",
            totals->icrc[ROCE_OK], totals->icrc[ROCE_BAD], totals->icrc[ROCE_UNCHECKED]);
    fputs("\"rules\":{", out);
    const char *between = "";
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        if (totals->rules[rule] == 0)
            continue;
        fprintf(out, "%s\"%s\":%" PRIu64, between, roce_rule_id((enum roce_rule)rule),
                totals->rules[rule]);
        between = ",";
    }
    fprintf(out,
            "},\"severities\":{\"must\":%" PRIu64 ",\"should\":%" PRIu64 ",\"info\":%" PRIu64 "},",
            totals->severities[ROCE_MUST], totals->severities[ROCE_SHOULD],
            totals->severities[ROCE_INFO]);
    print_number(out, "untracked", totals->untracked);
    fputs("\"error\":", out);
    if (error == NULL)
        fputs("null", out);
    else
        roce_print_text(out, error);
    fputs("}\n", out);
}
