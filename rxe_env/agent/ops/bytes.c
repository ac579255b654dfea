// SPDX-License-Identifier: BSD-2-Clause
//
// write, read, fill, sha256: the bytes of a memory region.
#include <inttypes.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "ops/ops.h"
#include "protocol/args.h"

enum { MAX_DATA_BYTES = 64 * 1024 };

// The range [offset, offset + length) of the request's region.
static uint8_t *range(struct session *session, const json_t *request, uint64_t length,
                      struct fail *f) {
    struct object *object = table_get(&session->table, request, "mr", KIND_MR, f);
    uint64_t offset = 0;
    if (!object || !arg_optional_number(request, "offset", 0, object->mr.size, &offset, f)) {
        return NULL;
    }
    if (length > object->mr.size - offset) {
        fail_say(f, "offset %" PRIu64 " + length %" PRIu64 " exceeds the region's %zu bytes",
                 offset, length, object->mr.size);
        return NULL;
    }
    return object->mr.bytes + offset;
}

static void to_hex(const uint8_t *bytes, size_t length, char *text) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * length] = '\0';
}

static int from_digit(char digit) {
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    return -1;
}

json_t *op_write(struct session *session, const json_t *request, struct fail *f) {
    const char *text = NULL;
    if (!arg_string(request, "data", &text, f)) {
        return NULL;
    }
    size_t digits = strlen(text);
    if (digits % 2 || digits / 2 > MAX_DATA_BYTES || strspn(text, "0123456789abcdef") != digits) {
        fail_say(f, "'data' must be at most %d bytes in lower-case hex", MAX_DATA_BYTES);
        return NULL;
    }
    uint8_t *bytes = range(session, request, digits / 2, f);
    if (!bytes) {
        return NULL;
    }
    for (size_t i = 0; i < digits / 2; i++) {
        bytes[i] = (uint8_t)(from_digit(text[2 * i]) << 4 | from_digit(text[2 * i + 1]));
    }
    return json_object();
}

json_t *op_read(struct session *session, const json_t *request, struct fail *f) {
    uint64_t length = 0;
    if (!arg_number(request, "length", 0, MAX_DATA_BYTES, &length, f)) {
        return NULL;
    }
    const uint8_t *bytes = range(session, request, length, f);
    char *text = bytes ? malloc(2 * length + 1) : NULL;
    if (!text) {
        return NULL;
    }
    to_hex(bytes, length, text);
    json_t *reply = json_pack("{s:s}", "data", text);
    free(text);
    return reply;
}

json_t *op_fill(struct session *session, const json_t *request, struct fail *f) {
    uint64_t length = 0;
    uint64_t byte = 0;
    if (!arg_number(request, "length", 0, UINT64_MAX, &length, f) ||
        !arg_number(request, "byte", 0, UINT8_MAX, &byte, f)) {
        return NULL;
    }
    uint8_t *bytes = range(session, request, length, f);
    if (!bytes) {
        return NULL;
    }
    memset(bytes, (int)byte, length);
    return json_object();
}

json_t *op_sha256(struct session *session, const json_t *request, struct fail *f) {
    uint64_t length = 0;
    if (!arg_number(request, "length", 0, UINT64_MAX, &length, f)) {
        return NULL;
    }
    const uint8_t *bytes = range(session, request, length, f);
    if (!bytes) {
        return NULL;
    }
    SHA2_CTX context;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    char text[SHA256_DIGEST_STRING_LENGTH];
    SHA256Init(&context);
    SHA256Update(&context, bytes, length);
    SHA256Final(digest, &context);
    to_hex(digest, sizeof(digest), text);
    return json_pack("{s:s}", "sha256", text);
}
