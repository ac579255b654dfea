// SPDX-License-Identifier: BSD-2-Clause
//
// The second reading: the frames that were chosen are written, each with what was
// left out in front of it.

#include "excerpt/excerpt.h"

#include <inttypes.h>
#include <stdlib.h>

#include "capture/capture.h"
#include "check/lines.h"
#include "excerpt/rows.h"

enum { RELEASE = 256 };

struct writing {
    const struct roce_rows *rows;
    FILE *out;
    struct roce_stretch stretches[ROCE_MOST_STRETCHES];
    uint32_t stretch_count;
    bool station_left[ROCE_STATIONS];
    bool flow_left[ROCE_ROW_FLOWS];
};

static void write_heading(struct writing *writing) {
    const struct roce_rows *rows = writing->rows;
    uint64_t judged = 0;
    uint64_t wrong = 0;
    for (uint64_t number = 1; number <= rows->count; number++) {
        const uint8_t bits = roce_row(rows, number)->bits;
        judged += (bits & ROCE_ROW_JUDGED) != 0;
        wrong += (bits & ROCE_ROW_JUDGED) && (bits & ROCE_ROW_WRONG);
    }
    fprintf(writing->out,
            "{\"frames\":%" PRIu64 ",\"roce\":%" PRIu64 ",\"wrong\":%" PRIu64 ",\"judged\":%" PRIu64
            ",\"judged_wrong\":%" PRIu64 ",\"stretches\":[",
            rows->count, rows->roce, rows->wrong, judged, wrong);
    for (uint32_t i = 0; i < writing->stretch_count; i++)
        fprintf(writing->out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
                writing->stretches[i].first, writing->stretches[i].last);
    fprintf(writing->out, "],\"cut\":%s,\"error\":", rows->cut ? "true" : "false");
    if (rows->damage[0])
        roce_print_text(writing->out, rows->damage);
    else
        fputs("null", writing->out);
    fputs("}\n", writing->out);
}

static uint8_t stretch_of(const struct writing *writing, uint64_t number) {
    for (uint32_t i = 0; i < writing->stretch_count; i++)
        if (number >= writing->stretches[i].first && number <= writing->stretches[i].last)
            return (uint8_t)(i + 1);
    return 0;
}

// What was left out in front of a frame, and in front of the next ones of its kind.
static uint8_t mark(struct writing *writing, const struct roce_row *row) {
    if (!(row->bits & ROCE_ROW_ROCE))
        return row->bits & ROCE_ROW_CHOSEN ? ROCE_EXCERPT_CHOSEN : 0;
    bool *station = &writing->station_left[row->station];
    bool *flow = &writing->flow_left[row->flow];
    if (!(row->bits & ROCE_ROW_CHOSEN)) {
        *station = *flow = true;
        return 0;
    }
    const uint8_t marks =
        (uint8_t)(ROCE_EXCERPT_CHOSEN | (*station ? ROCE_EXCERPT_AFTER_OTHERS : 0) |
                  (*flow ? ROCE_EXCERPT_AFTER_FLOW : 0) |
                  (row->bits & ROCE_ROW_JUDGED ? 0 : ROCE_EXCERPT_BESIDE));
    *station = *flow = false;
    return marks;
}

static void write_frame(struct writing *writing, const struct roce_record *record) {
    const uint8_t marks = mark(writing, roce_row(writing->rows, record->number));
    const uint8_t stretch = stretch_of(writing, record->number);
    if (marks == 0 && stretch == 0)
        return;
    const struct roce_excerpt_frame frame = {
        .number = record->number,
        .time_ns = record->time_ns,
        .size = record->size,
        .full_size = record->full_size,
        .interface = record->interface,
        .fcs_bytes = record->fcs_bytes,
        .is_ethernet = record->is_ethernet,
        .marks = marks,
        .stretch = stretch,
    };
    fwrite(&frame, sizeof frame, 1, writing->out);
    fwrite(record->data, record->size, 1, writing->out);
}

static bool write_all(struct writing *writing, const char *path, char *error, size_t error_bytes) {
    struct roce_capture *capture = roce_capture_open(path, error, error_bytes);
    if (capture == NULL)
        return false;
    write_heading(writing);
    struct roce_record record;
    while (!ferror(writing->out) && roce_capture_next(capture, &record) == ROCE_CAPTURE_PACKET &&
           record.number <= writing->rows->count) {
        write_frame(writing, &record);
        if (record.number % RELEASE == 0)
            roce_capture_release(capture, record.number);
    }
    roce_capture_close(capture);
    return true;
}

bool roce_excerpt(const char *path, const struct roce_facts *facts,
                  const struct roce_excerpt_limits *limits, FILE *out, char *error,
                  size_t error_bytes) {
    struct roce_rows *rows = calloc(1, sizeof *rows);
    struct writing *writing = calloc(1, sizeof *writing);
    bool fine = rows != NULL && writing != NULL;
    if (!fine)
        snprintf(error, error_bytes, "out of memory");
    fine = fine && roce_rows_read(rows, path, facts, error, error_bytes);
    if (fine) {
        roce_rows_choose(rows, limits);
        writing->rows = rows;
        writing->out = out;
        writing->stretch_count = roce_rows_stretches(rows, limits, writing->stretches);
        fine = write_all(writing, path, error, error_bytes);
    }
    if (rows != NULL)
        roce_rows_free(rows);
    free(rows);
    free(writing);
    return fine;
}
