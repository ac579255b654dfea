// SPDX-License-Identifier: BSD-2-Clause
//
// event-model: plays the network that stdin describes, and prints what became of it.
//
// A line of the description is `run`, `port` or `flow` and then words `key=value` with whole
// numbers; the keys are those of world.h, `path` of a flow is its ports' numbers joined by commas.
// Printed is, for the run, each port and each flow in turn, such a line of what was counted, then
// `sample` lines. Exits with 2 and a line on stderr where the description is wrong, or memory is
// out.

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

struct word {
    const char *key;
    size_t at;
};

#define RUN(field) {#field, offsetof(struct run_plan, field)}
#define PORT(field) {#field, offsetof(struct port_plan, field)}
#define FLOW(field) {#field, offsetof(struct flow_plan, field)}
#define TOLD_PORT(field) {#field, offsetof(struct port, field)}
#define TOLD_FLOW(field) {#field, offsetof(struct flow, field)}

static const struct word run_words[] = {RUN(seed), RUN(until), RUN(sample), RUN(since), {NULL, 0}};
static const struct word port_words[] = {
    PORT(rate),  PORT(delay), PORT(buffer), PORT(xoff),     PORT(xon),       PORT(loss), PORT(swap),
    PORT(twice), PORT(pace),  PORT(burst),  PORT(stall_at), PORT(stall_for), {NULL, 0}};
static const struct word flow_words[] = {FLOW(kind),          FLOW(priority),  FLOW(mtu),
                                         FLOW(size),          FLOW(depth),     FLOW(messages),
                                         FLOW(immediate),     FLOW(start),     FLOW(back),
                                         FLOW(timeout),       FLOW(retries),   FLOW(pace),
                                         FLOW(pace_messages), FLOW(warm),      FLOW(receives),
                                         FLOW(stall_at),      FLOW(stall_for), {NULL, 0}};
static const struct word told_of_ports[] = {
    TOLD_PORT(sent),        TOLD_PORT(dropped),    TOLD_PORT(lost), TOLD_PORT(peak),
    TOLD_PORT(pauses_sent), TOLD_PORT(paused_for), {NULL, 0}};
static const struct word told_of_flows[] = {TOLD_FLOW(most),
                                            TOLD_FLOW(resent),
                                            TOLD_FLOW(naks),
                                            TOLD_FLOW(timeouts),
                                            TOLD_FLOW(done),
                                            TOLD_FLOW(warm_time),
                                            TOLD_FLOW(last_time),
                                            TOLD_FLOW(delivered),
                                            TOLD_FLOW(delivered_since),
                                            TOLD_FLOW(latency_least),
                                            TOLD_FLOW(latency_most),
                                            TOLD_FLOW(latency_sum),
                                            TOLD_FLOW(starved),
                                            TOLD_FLOW(by_immediates),
                                            TOLD_FLOW(by_psns),
                                            TOLD_FLOW(injected),
                                            {NULL, 0}};

static int refuse(const char *what, const char *word) {
    fprintf(stderr, "event-model: %s: %s\n", what, word);
    return -1;
}

static int number(const char *text, uint64_t *value) {
    char *end;
    *value = strtoull(text, &end, 10);
    return *text < '0' || *text > '9' || *end ? refuse("not a whole number", text) : 0;
}

static int take_path(char *text, struct flow_plan *plan) {
    char *rest = text;
    for (char *hop; (hop = strsep(&rest, ",")) != NULL;) {
        if (plan->hops == MOST_HOPS)
            return refuse("more ports in a path than 8", text);
        if (number(hop, &plan->path[plan->hops++]))
            return -1;
    }
    return 0;
}

static int take(char *rest, const struct word *words, void *plan, struct flow_plan *flow) {
    for (char *key; (key = strsep(&rest, " \n")) != NULL;) {
        if (!*key)
            continue;
        char *value = strchr(key, '=');
        if (!value)
            return refuse("no key=value", key);
        *value++ = '\0';
        if (flow && strcmp(key, "path") == 0) {
            if (take_path(value, flow))
                return -1;
            continue;
        }
        const struct word *word = words;
        while (word->key && strcmp(word->key, key) != 0)
            word++;
        uint64_t amount;
        if (!word->key)
            return refuse("no such key", key);
        if (number(value, &amount))
            return -1;
        memcpy((char *)plan + word->at, &amount, sizeof amount);
    }
    return 0;
}

// One more element at the end of an array, all zeros; NULL without memory.
static void *one_more(void **array, uint32_t *count, size_t size) {
    char *grown = realloc(*array, (*count + 1) * size);
    if (!grown) {
        refuse("out of memory", "the description");
        return NULL;
    }
    *array = grown;
    return memset(grown + (*count)++ * size, 0, size);
}

static int take_line(struct world *w, char *line) {
    char *rest = line, *kind = strsep(&rest, " \n");
    void *array;
    if (strcmp(kind, "run") == 0)
        return take(rest, run_words, &w->plan, NULL);
    if (strcmp(kind, "port") == 0) {
        array = w->ports;
        struct port *port = one_more(&array, &w->port_count, sizeof *port);
        w->ports = array;
        return port ? take(rest, port_words, &port->plan, NULL) : -1;
    }
    if (strcmp(kind, "flow") == 0) {
        array = w->flows;
        struct flow *flow = one_more(&array, &w->flow_count, sizeof *flow);
        w->flows = array;
        return flow ? take(rest, flow_words, &flow->plan, &flow->plan) : -1;
    }
    return refuse("neither run, port nor flow", kind);
}

static int check_port(const struct port_plan *plan) {
    if (!plan->rate || plan->rate > UINT64_C(1) << 53)
        return refuse("without a rate that can be", "port");
    return plan->xon > plan->xoff ? refuse("xon above xoff", "port") : 0;
}

static int check_flow(const struct world *w, const struct flow_plan *plan) {
    if (plan->kind >= KINDS || plan->priority >= PRIORITIES)
        return refuse("out of range", "kind or priority of a flow");
    if (!plan->mtu || plan->mtu > 9000 || !plan->depth || plan->depth > 1u << 20)
        return refuse("out of range", "mtu or depth of a flow");
    if (plan->size > UINT64_C(1) << 31 || plan->messages > UINT64_C(1) << 40)
        return refuse("out of range", "size or messages of a flow");
    if ((plan->size / plan->mtu + 1) > (UINT64_C(1) << 62) / (plan->messages + plan->depth))
        return refuse("more packets than can be counted", "flow");
    if (!plan->hops)
        return refuse("without a path", "flow");
    for (uint64_t hop = 0; hop < plan->hops; hop++)
        if (plan->path[hop] >= w->port_count)
            return refuse("no such port", "in a path");
    return 0;
}

static int check(const struct world *w) {
    int wrong = 0;
    for (uint32_t n = 0; !wrong && n < w->port_count; n++)
        wrong = check_port(&w->ports[n].plan);
    for (uint32_t n = 0; !wrong && n < w->flow_count; n++)
        wrong = check_flow(w, &w->flows[n].plan);
    if (!wrong && w->plan.sample && w->plan.until / w->plan.sample > 1u << 24)
        wrong = refuse("too many samples", "run");
    return wrong;
}

static void tell(const char *kind, const struct word *words, const void *counted) {
    fputs(kind, stdout);
    for (; words->key; words++) {
        uint64_t amount;
        memcpy(&amount, (const char *)counted + words->at, sizeof amount);
        printf(" %s=%" PRIu64, words->key, amount);
    }
    putchar('\n');
}

static void tell_all(const struct world *w) {
    printf("run now=%" PRIu64 "\n", w->now);
    for (uint32_t n = 0; n < w->port_count; n++)
        tell("port", told_of_ports, &w->ports[n]);
    for (uint32_t n = 0; n < w->flow_count; n++) {
        printf("flow failed=%d", w->flows[n].failed);
        tell("", told_of_flows, &w->flows[n]);
    }
    for (uint64_t n = 0; n < w->sample_count; n++)
        printf("sample bytes=%" PRIu64 "\n", w->samples[n]);
}

static void free_all(struct world *w) {
    for (uint32_t n = 0; n < w->port_count; n++) {
        for (unsigned priority = 0; priority < PRIORITIES; priority++) {
            ring_free(&w->ports[n].waiting[priority]);
            ring_free(&w->ports[n].ready[priority]);
        }
        ring_free(&w->ports[n].wire);
        ring_free(&w->ports[n].pauses);
    }
    for (uint32_t n = 0; n < w->flow_count; n++) {
        ring_free(&w->flows[n].replies);
        free(w->flows[n].begun);
    }
    heap_free(&w->agenda);
    free(w->samples);
    free(w->ports);
    free(w->flows);
}

int main(void) {
    struct world world = {0};
    char *line = NULL;
    size_t room = 0;
    int wrong = 0;
    while (!wrong && getline(&line, &room, stdin) > 0)
        wrong = take_line(&world, line);
    free(line);
    if (!wrong && !check(&world)) {
        if (world_run(&world))
            tell_all(&world);
        else
            wrong = refuse("out of memory", "the run");
    } else {
        wrong = -1;
    }
    free_all(&world);
    return wrong ? 2 : 0;
}
