// SPDX-License-Identifier: BSD-2-Clause
#include "protocol/words.h"

#include <string.h>

#include "protocol/args.h"

static bool find_word(const struct word *words, const char *name, int *out) {
    for (; words->name; words++) {
        if (strcmp(words->name, name) == 0) {
            *out = words->value;
            return true;
        }
    }
    return false;
}

bool arg_word(const json_t *object, const char *name, const struct word *words, int *out,
              struct fail *f) {
    const char *text = NULL;
    if (!arg_string(object, name, &text, f)) {
        return false;
    }
    return find_word(words, text, out) || fail_say(f, "'%s' cannot be '%.40s'", name, text);
}

bool arg_optional_flags(const json_t *object, const char *name, const struct word *words, int *out,
                        struct fail *f) {
    const json_t *array = json_object_get(object, name);
    if (!array) {
        return true;
    }
    if (!json_is_array(array)) {
        return fail_say(f, "'%s' must be a list of names", name);
    }
    int flags = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        int flag = 0;
        if (!text || !find_word(words, text, &flag)) {
            return fail_say(f, "'%s' has no flag '%.40s'", name, text ? text : "(not a string)");
        }
        flags |= flag;
    }
    *out = flags;
    return true;
}

const char *word_name(const struct word *words, int value) {
    for (; words->name; words++) {
        if (words->value == value) {
            return words->name;
        }
    }
    return "unknown";
}

json_t *word_flags(const struct word *words, int flags) {
    json_t *array = json_array();
    for (; words->name; words++) {
        if (flags & words->value) {
            json_array_append_new(array, json_string(words->name));
        }
    }
    return array;
}
