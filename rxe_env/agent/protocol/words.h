// SPDX-License-Identifier: BSD-2-Clause
//
// Fields whose values are words: tables from the protocol's names to the
// numbers that verbs have for them, both ways.
#ifndef ROCEPROOF_AGENT_WORDS_H
#define ROCEPROOF_AGENT_WORDS_H

#include <jansson.h>
#include <stdbool.h>

#include "protocol/fail.h"

// A name and the number verbs have for it; tables end with a NULL name.
struct word {
    const char *name;
    int value;
};
bool arg_word(const json_t *object, const char *name, const struct word *words, int *out,
              struct fail *f);
bool arg_optional_flags(const json_t *object, const char *name, const struct word *words, int *out,
                        struct fail *f);
const char *word_name(const struct word *words, int value);
json_t *word_flags(const struct word *words, int flags);

#endif
