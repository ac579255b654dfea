// SPDX-License-Identifier: BSD-2-Clause

#include "judge/rule.h"

static const struct {
    const char *id;
    enum roce_severity severity;
} ROWS[] = {
#define RULE(name, id, severity) {id, severity},
#include "rules_table.inc"
#undef RULE
};

const char *roce_rule_id(enum roce_rule rule) {
    return ROWS[rule].id;
}

enum roce_severity roce_rule_severity(enum roce_rule rule) {
    return ROWS[rule].severity;
}

const char *roce_severity_name(enum roce_severity severity) {
    static const char *const NAMES[] = {"must", "should", "info"};
    return NAMES[severity];
}
