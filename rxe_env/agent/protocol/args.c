// SPDX-License-Identifier: BSD-2-Clause
#include "protocol/args.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool parse_number(const json_t *value, uint64_t *out) {
    if (json_is_integer(value)) {
        json_int_t number = json_integer_value(value);
        *out = (uint64_t)number;
        return number >= 0;
    }
    const char *text = json_string_value(value);
    if (!text || !isdigit((unsigned char)text[0])) {
        return false;
    }
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return errno == 0 && *end == '\0';
}

bool arg_number(const json_t *object, const char *name, uint64_t min, uint64_t max, uint64_t *out,
                struct fail *f) {
    const json_t *value = json_object_get(object, name);
    if (!value) {
        return fail_say(f, "'%s' is missing", name);
    }
    uint64_t number = 0;
    if (!parse_number(value, &number) || number < min || number > max) {
        return fail_say(f, "'%s' must be a number from %" PRIu64 " to %" PRIu64, name, min, max);
    }
    *out = number;
    return true;
}

bool arg_optional_number(const json_t *object, const char *name, uint64_t min, uint64_t max,
                         uint64_t *out, struct fail *f) {
    return !json_object_get(object, name) || arg_number(object, name, min, max, out, f);
}

bool arg_optional_u32(const json_t *object, const char *name, uint32_t min, uint32_t max,
                      uint32_t *out, struct fail *f) {
    uint64_t number = *out;
    bool ok = arg_optional_number(object, name, min, max, &number, f);
    *out = (uint32_t)number;
    return ok;
}

bool arg_optional_u8(const json_t *object, const char *name, uint8_t min, uint8_t max, uint8_t *out,
                     struct fail *f) {
    uint64_t number = *out;
    bool ok = arg_optional_number(object, name, min, max, &number, f);
    *out = (uint8_t)number;
    return ok;
}

bool arg_optional_bool(const json_t *object, const char *name, bool *out, struct fail *f) {
    const json_t *value = json_object_get(object, name);
    if (!value) {
        return true;
    }
    if (!json_is_boolean(value)) {
        return fail_say(f, "'%s' must be true or false", name);
    }
    *out = json_is_true(value);
    return true;
}

bool arg_string(const json_t *object, const char *name, const char **out, struct fail *f) {
    *out = json_string_value(json_object_get(object, name));
    if (!*out) {
        return fail_say(f, "'%s' must be a string", name);
    }
    return true;
}

bool arg_objects(const json_t *object, const char *name, size_t max, const json_t **out,
                 struct fail *f) {
    const json_t *array = json_object_get(object, name);
    size_t count = json_array_size(array);
    bool ok = json_is_array(array) && count >= 1 && count <= max;
    for (size_t i = 0; ok && i < count; i++) {
        ok = json_is_object(json_array_get(array, i));
    }
    if (!ok) {
        return fail_say(f, "'%s' must be a list of 1 to %zu objects", name, max);
    }
    *out = array;
    return true;
}

static bool list_has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; length && (at = strstr(at, word)); at += length) {
        bool starts = at == list || at[-1] == ' ';
        bool ends = at[length] == '\0' || at[length] == ' ';
        if (starts && ends) {
            return true;
        }
    }
    return false;
}

bool arg_only(const json_t *object, const char *allowed, struct fail *f) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)object, key, value) {
        if (!list_has(allowed, key)) {
            return fail_say(f, "unknown field '%.40s'; known: %s", key, allowed);
        }
    }
    return true;
}
