// SPDX-License-Identifier: BSD-2-Clause
//
// The first reading: every frame is judged as check does, and becomes a row.

#include "excerpt/rows.h"

#include <stdlib.h>
#include <string.h>

#include "flow/hash.h"
#include "flow/psn.h"
#include "oracle/oracle.h"

enum {
    BLOCK_ROWS = 1 << 16,
    MOST_BLOCKS = 1 << 8,
    TRAITS = 1 << 13,
    MOST_RARE = 1000,
    RELEASE = 256
};

struct reading {
    struct roce_rows *rows;
    struct roce_oracle *oracle;
    uint64_t traits[TRAITS];
};

static bool concerns_order(enum roce_rule rule) {
    static const char *const FAMILIES[] = {"PSN-", "ACK-", "NAK-",  "RNR-",
                                           "DUP-", "MSN-", "BTH-14"};
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++)
        if (strncmp(roce_rule_id(rule), FAMILIES[i], strlen(FAMILIES[i])) == 0)
            return true;
    return false;
}

// A gap is reported where it opened, which may be long ago.
static void note_finding(void *context, const struct roce_finding *finding) {
    const struct reading *reading = context;
    if (finding->frame <= reading->rows->count && concerns_order(finding->rule))
        roce_row(reading->rows, finding->frame)->bits |= ROCE_ROW_ORDER;
}

static struct roce_row *add_row(struct roce_rows *rows) {
    if (rows->count % BLOCK_ROWS == 0) {
        if (rows->count / BLOCK_ROWS == MOST_BLOCKS)
            return NULL;
        struct roce_row *block = calloc(BLOCK_ROWS, sizeof *block);
        if (block == NULL)
            return NULL;
        rows->blocks[rows->count / BLOCK_ROWS] = block;
    }
    return roce_row(rows, ++rows->count);
}

static uint8_t station_of(struct roce_rows *rows, const struct roce_record *record) {
    uint64_t key = 0;
    memcpy(&key, record->data + 6, 6);
    key |= (uint64_t)(record->interface + 1) << 48;
    for (uint32_t i = 0; i < rows->station_count; i++)
        if (rows->stations[i].key == key)
            return (uint8_t)i;
    if (rows->station_count == ROCE_STATIONS)
        return ROCE_STATIONS - 1;
    rows->stations[rows->station_count].key = key;
    return (uint8_t)rows->station_count++;
}

static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, uint32_t count) {
    for (uint32_t at = 0; at < count; at += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, count - at < 8 ? count - at : 8);
        hash = roce_hash(hash, word);
    }
    return hash;
}

// What may decide how a device treats a packet: its headers without what counts up.
static uint64_t traits_of(const struct roce_packet *packet) {
    const uint8_t *ip = packet->frame + packet->ip;
    const bool four = packet->version == 4;
    uint64_t hash =
        roce_hash(packet->class, (uint64_t)packet->pkey << 24 | (uint32_t)packet->tags << 16 |
                                     (uint32_t)packet->opcode << 8 | packet->flags);
    hash = roce_hash(hash, (uint64_t)roce_u16(ip) << 24 | (uint64_t)ip[four ? 8 : 7] << 16 |
                               (uint32_t)packet->congestion << 8 | packet->ack);
    if (four)
        hash = roce_hash(hash, (uint64_t)roce_u16(ip + 6) << 1 | (roce_u16(ip + 4) == 0));
    if (packet->class == ROCE_V2)
        hash = roce_hash(hash, roce_u16(packet->frame + packet->udp + 6) != 0);
    return hash;
}

// Notes traits, and returns whether they have not been seen, or only long ago.
static bool is_new(struct reading *reading, uint64_t traits) {
    uint64_t *place = &reading->traits[traits % TRAITS];
    const bool is_new = *place != traits;
    *place = traits;
    return is_new;
}

static bool is_rare(struct reading *reading, struct roce_station *station,
                    const struct roce_packet *packet, uint16_t flow) {
    const uint64_t traits = roce_hash(traits_of(packet), station->key);
    const uint64_t closer = roce_hash(traits, (uint64_t)flow << 32 | (packet->end - packet->ip));
    const bool rare = is_new(reading, traits) && station->rare < MOST_RARE;
    const bool odd = is_new(reading, closer) && station->odd < MOST_RARE;
    station->rare += rare;
    station->odd += odd;
    return rare || odd;
}

static bool is_again(const struct roce_packet *packet, const struct roce_flow *flow) {
    const struct roce_opcode *row = roce_opcode(packet->opcode);
    if (roce_is_response(row))
        return (row->headers & ROCE_HAS_AETH) && roce_body_has(packet, 1) &&
               roce_body(packet)[0] >> 5 != 0;
    return roce_is_request(row) && flow != NULL && flow->requests.previous != packet->psn &&
           roce_distance(packet->psn, roce_psn(flow->requests.newest)) < 0;
}

static uint64_t queue_of(const struct roce_packet *packet, uint8_t station) {
    const bool four = packet->version == 4;
    const uint64_t hash = roce_hash(station, packet->qpn);
    return hash_bytes(hash, packet->frame + packet->ip + (four ? 16 : 24), four ? 4 : 16);
}

static void describe(struct reading *reading, const struct roce_record *record,
                     const struct roce_packet *packet, const struct roce_flow *flow,
                     struct roce_row *row) {
    struct roce_rows *rows = reading->rows;
    if (packet->class != ROCE_V2 && packet->class != ROCE_V1)
        return;
    row->bits |= ROCE_ROW_ROCE;
    row->station = station_of(rows, record);
    struct roce_station *station = &rows->stations[row->station];
    station->frames++;
    rows->roce++;
    rows->bytes += packet->size;
    const uint64_t queue = queue_of(packet, row->station);
    row->flow = (uint16_t)(queue >> 8);
    row->packet = (uint32_t)(roce_hash(queue, (uint64_t)packet->opcode << 32 | packet->psn) >> 8);
    if (packet->verdict == ROCE_BAD || packet->fault != ROCE_SOUND) {
        row->bits |= ROCE_ROW_WRONG;
        station->wrong++;
        rows->wrong++;
    } else if (packet->has_bth && is_rare(reading, station, packet, row->flow)) {
        row->bits |= ROCE_ROW_RARE;
    }
    if (packet->fault == ROCE_SOUND && packet->has_bth && is_again(packet, flow)) {
        row->bits |= ROCE_ROW_AGAIN;
        station->again++;
    }
}

static void read_all(struct reading *reading, struct roce_capture *capture) {
    struct roce_rows *rows = reading->rows;
    enum roce_capture_status status;
    struct roce_record record;
    struct roce_packet packet;
    while ((status = roce_capture_next(capture, &record)) == ROCE_CAPTURE_PACKET) {
        struct roce_row *row = add_row(rows);
        if (row == NULL) {
            rows->cut = true;
            return;
        }
        roce_inspect(&record, &packet);
        describe(reading, &record, &packet, roce_judge(reading->oracle, &record, &packet), row);
        if (record.number % RELEASE == 0)
            roce_capture_release(capture, record.number);
    }
    if (status == ROCE_CAPTURE_ERROR)
        snprintf(rows->damage, sizeof rows->damage, "%s", roce_capture_error(capture));
}

bool roce_rows_read(struct roce_rows *rows, const char *path, const struct roce_facts *facts,
                    char *error, size_t error_bytes) {
    struct roce_capture *capture = roce_capture_open(path, error, error_bytes);
    if (capture == NULL)
        return false;
    struct reading *reading = calloc(1, sizeof *reading);
    rows->blocks = calloc(MOST_BLOCKS, sizeof *rows->blocks);
    struct roce_oracle *oracle = reading ? roce_oracle_create(facts, note_finding, reading) : NULL;
    const bool ready = oracle != NULL && rows->blocks != NULL;
    if (ready) {
        reading->rows = rows;
        reading->oracle = oracle;
        read_all(reading, capture);
        roce_finish(oracle);
    } else {
        snprintf(error, error_bytes, "out of memory");
    }
    if (oracle != NULL)
        roce_oracle_destroy(oracle);
    free(reading);
    roce_capture_close(capture);
    return ready;
}

void roce_rows_free(struct roce_rows *rows) {
    for (uint32_t i = 0; rows->blocks != NULL && i < MOST_BLOCKS; i++)
        free(rows->blocks[i]);
    free(rows->blocks);
}
