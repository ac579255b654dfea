// SPDX-License-Identifier: BSD-2-Clause

#include "flow/facts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const char *path;
    size_t row;
    char *error;
    size_t error_bytes;
};

static bool refuse(const struct reading *reading, const char *key, const char *wanted) {
    snprintf(reading->error, reading->error_bytes, "%s: qps[%zu]: \"%s\" must be %s", reading->path,
             reading->row, key, wanted);
    return false;
}

static bool read_address(const struct reading *reading, const json_t *row, const char *key,
                         struct roce_address *address) {
    const char *text = json_string_value(json_object_get(row, key));
    if (text != NULL && inet_pton(AF_INET, text, address->bytes) == 1)
        address->version = 4;
    else if (text != NULL && inet_pton(AF_INET6, text, address->bytes) == 1)
        address->version = 6;
    else
        return refuse(reading, key, "an IPv4 or IPv6 address");
    return true;
}

// A number up to `most`; -1 where the key is missing.
static bool read_number(const struct reading *reading, const json_t *row, const char *key,
                        json_int_t most, int32_t *number) {
    const json_t *value = json_object_get(row, key);
    *number = -1;
    if (value == NULL)
        return true;
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > most)
        return refuse(reading, key, "a number in its range");
    *number = (int32_t)json_integer_value(value);
    return true;
}

static bool read_service(const struct reading *reading, const json_t *row,
                         enum roce_service *service) {
    const char *text = json_string_value(json_object_get(row, "service"));
    if (text != NULL && strcmp(text, "RC") == 0)
        *service = ROCE_RC;
    else if (text != NULL && strcmp(text, "UC") == 0)
        *service = ROCE_UC;
    else if (text != NULL && strcmp(text, "UD") == 0)
        *service = ROCE_UD;
    else
        return refuse(reading, "service", "\"RC\", \"UC\" or \"UD\"");
    return true;
}

static bool read_row(const struct reading *reading, const json_t *row, struct roce_fact *fact) {
    int32_t qpn;
    int32_t remote_qpn;
    const bool fine =
        read_service(reading, row, &fact->service) &&
        read_address(reading, row, "address", &fact->address) &&
        read_address(reading, row, "remote_address", &fact->remote_address) &&
        read_number(reading, row, "qpn", 0xFFFFFF, &qpn) &&
        read_number(reading, row, "remote_qpn", 0xFFFFFF, &remote_qpn) &&
        read_number(reading, row, "start_psn", 0xFFFFFF, &fact->start_psn) &&
        read_number(reading, row, "remote_start_psn", 0xFFFFFF, &fact->remote_start_psn) &&
        read_number(reading, row, "path_mtu", 4096, &fact->path_mtu) &&
        read_number(reading, row, "dscp", 63, &fact->dscp) &&
        read_number(reading, row, "ttl", 255, &fact->ttl) &&
        read_number(reading, row, "min_rnr_timer", 31, &fact->min_rnr_timer);
    if (!fine)
        return false;
    if (fact->path_mtu >= 0 && !roce_is_path_mtu((uint32_t)fact->path_mtu))
        return refuse(reading, "path_mtu", "256, 512, 1024, 2048 or 4096");
    if (qpn < 0 || remote_qpn < 0)
        return refuse(reading, qpn < 0 ? "qpn" : "remote_qpn", "given");
    const json_t *credits = json_object_get(row, "credits");
    if (credits != NULL && !json_is_boolean(credits))
        return refuse(reading, "credits", "true or false");
    fact->credits = credits == NULL ? -1 : json_is_true(credits);
    fact->qpn = (uint32_t)qpn;
    fact->remote_qpn = (uint32_t)remote_qpn;
    return true;
}

static bool read_document(struct roce_facts *facts, const json_t *document,
                          struct reading *reading) {
    const json_t *rows = json_object_get(document, "qps");
    const json_t *mtu = json_object_get(document, "mtu");
    if (json_integer_value(json_object_get(document, "schema")) != 1 || !json_is_array(rows)) {
        snprintf(reading->error, reading->error_bytes,
                 "%s: not a list of QPs; it must hold \"schema\": 1 and \"qps\": [...]",
                 reading->path);
        return false;
    }
    if (mtu != NULL && (json_integer_value(mtu) < 1 || json_integer_value(mtu) > 65535)) {
        snprintf(reading->error, reading->error_bytes, "%s: \"mtu\" must be 1 to 65535",
                 reading->path);
        return false;
    }
    facts->mtu = (uint32_t)json_integer_value(mtu);
    facts->rows = calloc(json_array_size(rows) + 1, sizeof *facts->rows);
    if (facts->rows == NULL) {
        snprintf(reading->error, reading->error_bytes, "%s: out of memory", reading->path);
        return false;
    }
    for (; reading->row < json_array_size(rows); reading->row++)
        if (!read_row(reading, json_array_get(rows, reading->row), &facts->rows[reading->row]))
            return false;
    facts->count = reading->row;
    return true;
}

enum { ROCE_FACTS_BYTES = 6 << 20 };

struct source {
    FILE *file;
    size_t left;
};

// As jansson asks for it; of what is longer than any list of QPs there is only the beginning.
static size_t take(void *buffer, size_t bytes, void *from) {
    struct source *source = from;
    const size_t wanted = bytes < source->left ? bytes : source->left;
    const size_t found = fread(buffer, 1, wanted, source->file);
    source->left -= found;
    return found;
}

static json_t *load(const char *path, json_error_t *reason) {
    struct source source = {fopen(path, "rb"), ROCE_FACTS_BYTES};
    if (source.file == NULL) {
        *reason = (json_error_t){.line = -1};
        snprintf(reason->text, sizeof reason->text, "%s", strerror(errno));
        return NULL;
    }
    json_t *document = json_load_callback(take, &source, JSON_REJECT_DUPLICATES, reason);
    if (document == NULL && source.left == 0)
        snprintf(reason->text, sizeof reason->text, "it has more than %d bytes", ROCE_FACTS_BYTES);
    fclose(source.file);
    return document;
}

bool roce_facts_load(struct roce_facts *facts, const char *path, char *error, size_t error_bytes) {
    json_error_t reason;
    memset(facts, 0, sizeof *facts);
    json_t *document = load(path, &reason);
    if (document == NULL) {
        snprintf(error, error_bytes, "%s: line %d: %s", path, reason.line, reason.text);
        return false;
    }
    struct reading reading = {path, 0, error, error_bytes};
    const bool fine = read_document(facts, document, &reading);
    json_decref(document);
    if (!fine)
        roce_facts_free(facts);
    return fine;
}

void roce_facts_free(struct roce_facts *facts) {
    free(facts->rows);
    memset(facts, 0, sizeof *facts);
}
