// SPDX-License-Identifier: BSD-2-Clause
//
// Typed, range-checked access to the fields of a request. Each getter returns
// false, with the field's name and the allowed range in `f`, when the field is
// missing or wrong. An optional getter leaves `*out` alone when it is absent.
#ifndef ROCEPROOF_AGENT_ARGS_H
#define ROCEPROOF_AGENT_ARGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/fail.h"

// Numbers may be JSON integers or, since those end at 2^63-1, strings such as
// "0xffffffffffffffff".
bool arg_number(const json_t *object, const char *name, uint64_t min, uint64_t max, uint64_t *out,
                struct fail *f);
bool arg_optional_number(const json_t *object, const char *name, uint64_t min, uint64_t max,
                         uint64_t *out, struct fail *f);
bool arg_optional_u32(const json_t *object, const char *name, uint32_t min, uint32_t max,
                      uint32_t *out, struct fail *f);
bool arg_optional_u8(const json_t *object, const char *name, uint8_t min, uint8_t max, uint8_t *out,
                     struct fail *f);
bool arg_optional_bool(const json_t *object, const char *name, bool *out, struct fail *f);
bool arg_string(const json_t *object, const char *name, const char **out, struct fail *f);

// The elements of a non-empty array of at most `max` objects.
bool arg_objects(const json_t *object, const char *name, size_t max, const json_t **out,
                 struct fail *f);

// Every key of `object` must be a word of the space-separated list `allowed`.
bool arg_only(const json_t *object, const char *allowed, struct fail *f);

#endif
