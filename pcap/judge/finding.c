// SPDX-License-Identifier: BSD-2-Clause

#include "judge/finding.h"

#include <stdarg.h>
#include <stdio.h>

#include "judge/judge.h"

const char *roce_text(struct roce_judge *judge, const char *format, ...) {
    char *text = judge->texts[judge->text++ % ROCE_TEXTS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, ROCE_TEXT_BYTES, format, arguments);
    va_end(arguments);
    return text;
}

static void tell(struct roce_judge *judge, const struct roce_finding *finding) {
    judge->totals.rules[finding->rule]++;
    judge->totals.severities[finding->severity]++;
    judge->report(judge->context, finding);
}

void roce_found_as(struct roce_judge *judge, enum roce_rule rule, enum roce_severity severity,
                   const char *expected, const char *got) {
    // Another thread may begin the flow meanwhile.
    const bool begun = judge->flow != NULL && !(judge->routed->notes & ROCE_UNBEGUN);
    const int64_t flow = begun ? judge->flow->number : -1;
    tell(judge, &(struct roce_finding){rule, severity, judge->record->number, flow, expected, got});
}

void roce_found(struct roce_judge *judge, enum roce_rule rule, const char *expected,
                const char *got) {
    roce_found_as(judge, rule, roce_rule_severity(rule), expected, got);
}

void roce_found_at(struct roce_judge *judge, enum roce_rule rule, uint64_t frame,
                   const struct roce_flow *flow, const char *expected, const char *got) {
    tell(judge, &(struct roce_finding){rule, roce_rule_severity(rule), frame, flow->number,
                                       expected, got});
}
