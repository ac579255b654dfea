// SPDX-License-Identifier: BSD-2-Clause

#include "check/kept_findings.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_ROOM = 16, ROOM_KEPT = 256 };

// The texts of a finding last only until the next ones.
struct roce_kept {
    struct roce_finding finding;
    uint32_t place;
    char expected[ROCE_TEXT_BYTES];
    char got[ROCE_TEXT_BYTES];
};

void roce_keep_finding(void *context, const struct roce_finding *finding) {
    struct roce_kept_findings *kept = context;
    if (kept->count == kept->room) {
        const uint32_t room = kept->room ? 2 * kept->room : FIRST_ROOM;
        struct roce_kept *rows = realloc(kept->rows, room * sizeof *rows);
        if (rows == NULL)
            return;
        kept->rows = rows;
        kept->room = room;
    }
    struct roce_kept *row = &kept->rows[kept->count++];
    row->finding = *finding;
    row->place = kept->place;
    snprintf(row->expected, sizeof row->expected, "%s", finding->expected);
    snprintf(row->got, sizeof row->got, "%s", finding->got);
}

// The judge whose next finding comes first; a frame has one judge.
static uint32_t first_of(const struct roce_kept_findings kept[ROCE_JUDGES],
                         const uint32_t next[ROCE_JUDGES]) {
    uint32_t first = ROCE_JUDGES;
    for (uint32_t i = 0; i < ROCE_JUDGES; i++)
        if (next[i] < kept[i].count &&
            (first == ROCE_JUDGES ||
             kept[i].rows[next[i]].place < kept[first].rows[next[first]].place))
            first = i;
    return first;
}

void roce_report_kept(struct roce_kept_findings kept[ROCE_JUDGES], roce_report *report,
                      void *context) {
    uint32_t next[ROCE_JUDGES] = {0};
    for (uint32_t i; (i = first_of(kept, next)) != ROCE_JUDGES;) {
        struct roce_kept *row = &kept[i].rows[next[i]++];
        row->finding.expected = row->expected;
        row->finding.got = row->got;
        report(context, &row->finding);
    }
    for (uint32_t i = 0; i < ROCE_JUDGES; i++) {
        kept[i].count = 0;
        if (kept[i].room > ROOM_KEPT) {
            free(kept[i].rows);
            kept[i] = (struct roce_kept_findings){0};
        }
    }
}

void roce_kept_free(struct roce_kept_findings kept[ROCE_JUDGES]) {
    for (uint32_t i = 0; i < ROCE_JUDGES; i++)
        free(kept[i].rows);
}
