// SPDX-License-Identifier: BSD-2-Clause
//
// The rules that an observer decides, from the project's one table of rules
// (conformance/rules/rules.tsv, turned into rules_table.inc by rules.awk).

#ifndef ROCEPROOF_RULE_H
#define ROCEPROOF_RULE_H

enum roce_severity { ROCE_MUST, ROCE_SHOULD, ROCE_INFO };

enum roce_rule {
#define RULE(name, id, severity) RULE_##name,
#include "rules_table.inc"
#undef RULE
    RULE_COUNT,
};

// "PSN-02" and the severity that the table gives.
const char *roce_rule_id(enum roce_rule rule);
enum roce_severity roce_rule_severity(enum roce_rule rule);

// "must", "should" or "info".
const char *roce_severity_name(enum roce_severity severity);

#endif
