// SPDX-License-Identifier: BSD-2-Clause
//
// Unit tests of what a flow remembers: the ring of requests, the count of messages,
// open gaps; and of the table that bounds all of it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "oracle/oracle.h"
#include "requests/gaps.h"
#include "requests/history.h"
#include "requests/msn_counter.h"
#include "requests/reads.h"
#include "routing/flow_begin.h"
#include "routing/pairs.h"
#include "rules/rules.h"

struct reports {
    unsigned int count;
    struct roce_finding last;
};

static void note(void *context, const struct roce_finding *finding) {
    struct reports *reports = context;
    reports->count++;
    reports->last = *finding;
}

static const struct roce_record RECORD = {.number = 7};

// A judge that looks at a packet of its only flow.
static struct roce_judge *begin(struct roce_packet *packet, struct reports *reports) {
    struct roce_oracle *oracle = roce_oracle_create(NULL, note, reports);
    assert_non_null(oracle);
    struct roce_flow *flow = roce_flow_of(oracle, &(struct roce_key){.qpn = 17});
    assert_non_null(flow);
    struct roce_judge *judge = &oracle->judges[flow->judge];
    judge->record = &RECORD;
    judge->packet = packet;
    judge->row = roce_opcode(4);
    judge->flow = flow;
    return judge;
}

static struct roce_packet packet_with(uint32_t psn) {
    return (struct roce_packet){.end = ROCE_BTH_BYTES + ROCE_ICRC_BYTES, .psn = psn};
}

static void a_ring_of_requests_grows_and_keeps_the_last_1024(void **state) {
    (void)state;
    struct reports reports = {0};
    struct roce_packet packet = packet_with(0);
    struct roce_judge *judge = begin(&packet, &reports);
    struct roce_requests *requests = &judge->flow->requests;
    for (uint32_t i = 0; i < 3000; i++) {
        packet.psn = (0xFFFC00 + i) & 0xFFFFFF;
        roce_sent_keep(judge, requests, judge->packet);
        assert_true(requests->sent_slots >= (i < 32 ? 32 : i < ROCE_KEPT_PSNS ? i + 1 : 1024));
    }
    assert_int_equal(requests->sent_slots, ROCE_KEPT_PSNS);
    for (uint32_t i = 0; i < 3000; i++) {
        const uint32_t psn = (0xFFFC00 + i) & 0xFFFFFF;
        assert_int_equal(roce_sent_at(requests, psn) != NULL, i >= 3000 - ROCE_KEPT_PSNS);
    }
    roce_oracle_destroy(judge->oracle);
}

static void messages_are_counted_up_to_any_of_the_last_1024(void **state) {
    (void)state;
    struct reports reports = {0};
    struct roce_packet packet = packet_with(0);
    struct roce_judge *judge = begin(&packet, &reports);
    struct roce_msn_counter *msn_counter = &judge->flow->requests.msn_counter;
    struct roce_msn_counter_counts counts;
    roce_msn_counter_start(msn_counter, 100, true);
    for (int64_t i = 0; i < 5000; i++)
        roce_msn_counter_add(judge, judge->flow, 100 + 2 * i, i % 2 == 0);
    assert_true(roce_msn_counter_count(msn_counter, 99, &counts));
    assert_int_equal(counts.all, 0);
    assert_true(roce_msn_counter_count(msn_counter, 100 + 2 * 4999, &counts));
    assert_int_equal(counts.all, 5000);
    assert_int_equal(counts.received, 2500);
    assert_true(roce_msn_counter_count(msn_counter, 100 + 2 * 4500 + 1, &counts));
    assert_int_equal(counts.all, 4501);
    assert_false(roce_msn_counter_count(msn_counter, 100 + 2 * 3000, &counts));
    roce_msn_counter_start(msn_counter, 100, false);
    assert_false(roce_msn_counter_count(msn_counter, 99, &counts));
    roce_oracle_destroy(judge->oracle);
}

static void a_count_without_room_ends_and_is_a_change_of_the_flow(void **state) {
    (void)state;
    struct reports reports = {0};
    struct roce_packet packet = packet_with(0);
    struct roce_judge *judge = begin(&packet, &reports);
    struct roce_flow *flow = judge->flow;
    roce_msn_counter_start(&flow->requests.msn_counter, 100, true);
    const uint64_t changes = flow->changes;
    const size_t bytes = judge->memory.bytes;
    judge->memory.bytes = SIZE_MAX; // none is left
    roce_msn_counter_add(judge, flow, 100, true);
    assert_false(flow->requests.msn_counter.counts);
    assert_true(flow->changes > changes);
    assert_true(judge->memory.refused);
    judge->memory.bytes = bytes;
    roce_oracle_destroy(judge->oracle);
}

static void a_gap_is_filled_by_its_last_packet_only(void **state) {
    (void)state;
    struct reports reports = {0};
    struct roce_packet packet = packet_with(20);
    struct roce_judge *judge = begin(&packet, &reports);
    roce_gap_open(judge, RULE_PSN_02, 10, 19, 10);
    assert_true(roce_gaps_fill(judge, 10, 14));
    assert_false(roce_gaps_fill(judge, 12, 12));
    assert_false(roce_gaps_fill(judge, 20, 20));
    assert_true(roce_gaps_fill(judge, 15, 25));
    assert_int_equal(judge->flow->requests.gap_count, 0);
    roce_finish(judge->oracle);
    assert_int_equal(reports.count, 0);
    roce_oracle_destroy(judge->oracle);
}

static void a_gap_that_stays_open_is_reported_where_it_opened(void **state) {
    (void)state;
    struct reports reports = {0};
    struct roce_packet packet = packet_with(20);
    struct roce_judge *judge = begin(&packet, &reports);
    roce_gap_open(judge, RULE_PSN_02, 10, 19, 10);
    roce_gaps_fill(judge, 10, 18);
    roce_gaps_covered(judge, judge->flow, 18);
    roce_finish(judge->oracle);
    assert_int_equal(reports.count, 1);
    assert_int_equal(reports.last.rule, RULE_PSN_02);
    assert_int_equal(reports.last.frame, RECORD.number);
    roce_oracle_destroy(judge->oracle);
}

static void the_oldest_of_seventeen_gaps_is_given_up(void **state) {
    (void)state;
    struct reports reports = {0};
    struct roce_packet packet = packet_with(20);
    struct roce_judge *judge = begin(&packet, &reports);
    for (int64_t i = 0; i < ROCE_KEPT_GAPS + 1; i++) {
        assert_int_equal(reports.count, 0);
        roce_gap_open(judge, RULE_PSN_02, 10 * i, 10 * i + 3, 0);
    }
    assert_int_equal(reports.count, 1);
    assert_int_equal(judge->flow->requests.gap_count, ROCE_KEPT_GAPS);
    roce_oracle_destroy(judge->oracle);
}

static void the_table_refuses_flows_beyond_its_bound(void **state) {
    (void)state;
    struct roce_flow_table table;
    assert_true(roce_flow_table_open(&table));
    bool made = true;
    uint32_t flows = 0;
    for (struct roce_key key = {0}; key.qpn < 1 << 17; key.qpn++)
        flows += roce_flow_get(&table, &key, &made) != NULL;
    assert_int_equal(flows, 1 << 16);
    roce_flow_table_close(&table);
}

static void what_the_flows_of_a_judge_remember_is_bounded(void **state) {
    (void)state;
    struct roce_memory memory = {0};
    const size_t most = (size_t)12 << 20;
    void *held = roce_flow_allocate(&memory, most - 1);
    assert_non_null(held);
    assert_null(roce_flow_allocate(&memory, 2));
    assert_true(memory.refused);
    roce_flow_release(&memory, held, most - 1);
    held = roce_flow_allocate(&memory, most);
    assert_non_null(held);
    roce_flow_release(&memory, held, most);
    assert_int_equal(memory.bytes, 0);
}

static void a_flow_takes_its_memory_along_to_another_judge(void **state) {
    (void)state;
    struct reports reports = {0};
    struct roce_packet packet = packet_with(20);
    struct roce_judge *judge = begin(&packet, &reports);
    struct roce_judge *other = &judge->oracle->judges[(judge->number + 1) % ROCE_JUDGES];
    roce_sent_keep(judge, &judge->flow->requests, judge->packet);
    roce_read_keep(judge, 20);
    roce_gap_open(judge, RULE_PSN_02, 10, 19, 10);
    roce_msn_counter_add(judge, judge->flow, 100, true);
    const size_t bytes = judge->memory.bytes;
    assert_true(bytes > 0);
    roce_flow_move(judge->oracle, judge->flow, other->number);
    assert_int_equal(judge->memory.bytes, 0);
    assert_int_equal(other->memory.bytes, bytes);
    roce_oracle_destroy(judge->oracle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_of_requests_grows_and_keeps_the_last_1024),
        cmocka_unit_test(messages_are_counted_up_to_any_of_the_last_1024),
        cmocka_unit_test(a_count_without_room_ends_and_is_a_change_of_the_flow),
        cmocka_unit_test(a_gap_is_filled_by_its_last_packet_only),
        cmocka_unit_test(a_gap_that_stays_open_is_reported_where_it_opened),
        cmocka_unit_test(the_oldest_of_seventeen_gaps_is_given_up),
        cmocka_unit_test(the_table_refuses_flows_beyond_its_bound),
        cmocka_unit_test(what_the_flows_of_a_judge_remember_is_bounded),
        cmocka_unit_test(a_flow_takes_its_memory_along_to_another_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
