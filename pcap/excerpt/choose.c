// SPDX-License-Identifier: BSD-2-Clause
//
// Which rows become the excerpt: seeds first (wrong frames, repetitions), then what
// belongs to each of them, then right frames from everywhere.

#include <stdlib.h>
#include <string.h>

#include "excerpt/rows.h"

enum {
    MOST_BYTES = 96 << 20,
    WHOLE_BYTES = 48 << 20,
    BESIDE = 16,             // frames of the station on both sides of each seed
    RARE_SHARE = 20,         // what is rarer than one in that many
    RIGHT_A_RARE_WRONG = 25, // has to stay so
    RIGHT_A_WRONG = 6,       // where it is not rare
    LEAST = 8,
    SLOTS = 1 << 14, // of originals that are looked for
};

// How much of one station is taken, and where the walk along its frames is.
struct plan {
    uint64_t wrong_step, again_step, right_step;
    uint64_t wrong, again, right, rare; // met so far
    uint64_t to_take;                   // further ones, come what may
    uint64_t run;                       // frames behind the first wrong one
};

struct choice {
    struct roce_rows *rows;
    const struct roce_excerpt_limits *limits;
    struct plan plans[ROCE_STATIONS];
    bool wanted[ROCE_ROW_FLOWS];
    uint32_t originals[SLOTS];
    uint32_t original_count;
};

static uint64_t at_least(uint64_t number, uint64_t least) {
    return number > least ? number : least;
}

static uint64_t step_for(uint64_t there, uint64_t most) {
    return most == 0 ? UINT64_MAX : (there + most - 1) / most + (there == 0);
}

static uint64_t faulty_stations(const struct roce_rows *rows) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < rows->station_count; i++)
        count += rows->stations[i].wrong > 0;
    return at_least(count, 1);
}

static void plan_station(const struct choice *choice, const struct roce_station *station,
                         uint64_t share, struct plan *plan) {
    const uint64_t right = station->frames - station->wrong;
    const bool rare = station->wrong * RARE_SHARE <= station->frames;
    const uint64_t wrong = at_least(choice->limits->wrong / share, LEAST);
    const uint64_t kept = wrong < station->wrong ? wrong : station->wrong;
    const uint64_t most_right =
        rare ? RIGHT_A_RARE_WRONG * kept : RIGHT_A_WRONG * choice->limits->wrong / share;
    plan->wrong_step = step_for(station->wrong, wrong);
    plan->again_step = step_for(station->again, wrong / 2);
    plan->right_step = step_for(right, at_least(most_right, RIGHT_A_RARE_WRONG * LEAST));
}

static void plan_all(struct choice *choice) {
    const struct roce_rows *rows = choice->rows;
    const uint64_t average = rows->bytes / at_least(rows->roce, 1) + 1;
    const uint64_t room = MOST_BYTES / average;
    const uint64_t due = (RIGHT_A_RARE_WRONG + 2 * BESIDE) * choice->limits->wrong;
    const uint64_t share = faulty_stations(rows) * at_least(due / at_least(room, 1), 1);
    for (uint32_t i = 0; i < rows->station_count; i++)
        plan_station(choice, &rows->stations[i], share, &choice->plans[i]);
}

static void choose_judged(struct choice *choice, uint64_t run) {
    struct roce_rows *rows = choice->rows;
    const uint64_t most = choice->limits->wrong;
    for (uint64_t number = 1; number <= rows->count; number++) {
        struct roce_row *row = roce_row(rows, number);
        struct plan *plan = &choice->plans[row->station];
        if (!(row->bits & ROCE_ROW_ROCE))
            continue;
        const bool wrong = row->bits & ROCE_ROW_WRONG;
        const bool again = row->bits & ROCE_ROW_AGAIN;
        const bool rare = (row->bits & ROCE_ROW_RARE) && plan->rare < most;
        const bool near = (wrong || plan->wrong > 0) && plan->run++ < run;
        if ((wrong && (near || plan->wrong % plan->wrong_step == 0)) ||
            (again && plan->again % plan->again_step == 0))
            row->bits |= ROCE_ROW_CHOSEN | ROCE_ROW_JUDGED | ROCE_ROW_SEED;
        else if (near || rare || (!wrong && plan->right % plan->right_step == 0))
            row->bits |= ROCE_ROW_CHOSEN | ROCE_ROW_JUDGED;
        plan->wrong += wrong;
        plan->again += again;
        plan->right += !wrong;
        plan->rare += rare;
    }
}

static void want_original(struct choice *choice, uint32_t packet) {
    uint32_t at = packet % SLOTS;
    if (packet == 0 || choice->original_count == SLOTS / 2)
        return;
    while (choice->originals[at] != 0 && choice->originals[at] != packet)
        at = (at + 1) % SLOTS;
    choice->original_count += choice->originals[at] == 0;
    choice->originals[at] = packet;
}

static bool take_original(struct choice *choice, uint32_t packet) {
    uint32_t at = packet % SLOTS;
    while (choice->originals[at] != 0 && choice->originals[at] != packet)
        at = (at + 1) % SLOTS;
    if (packet == 0 || choice->originals[at] != packet)
        return false;
    choice->originals[at] = 1; // found: the first one counts; keeps the place of those behind it
    return true;
}

// From the end to the start: what stands in front of each seed.
static void choose_before(struct choice *choice) {
    struct roce_rows *rows = choice->rows;
    for (uint64_t number = rows->count; number > 0; number--) {
        struct roce_row *row = roce_row(rows, number);
        if (!(row->bits & ROCE_ROW_ROCE))
            continue;
        struct plan *plan = &choice->plans[row->station];
        if (plan->to_take > 0 || choice->wanted[row->flow])
            row->bits |= ROCE_ROW_CHOSEN;
        plan->to_take -= plan->to_take > 0;
        choice->wanted[row->flow] = false;
        if (!(row->bits & ROCE_ROW_SEED))
            continue;
        want_original(choice, row->packet);
        choice->wanted[row->flow] = true;
        plan->to_take = BESIDE;
    }
}

// From the start to the end: what stands behind each seed, and originals.
static void choose_behind(struct choice *choice) {
    struct roce_rows *rows = choice->rows;
    for (uint32_t i = 0; i < rows->station_count; i++)
        choice->plans[i].to_take = 0;
    for (uint64_t number = 1; number <= rows->count; number++) {
        struct roce_row *row = roce_row(rows, number);
        if (!(row->bits & ROCE_ROW_ROCE))
            continue;
        struct plan *plan = &choice->plans[row->station];
        if (plan->to_take > 0 || take_original(choice, row->packet))
            row->bits |= ROCE_ROW_CHOSEN;
        plan->to_take -= plan->to_take > 0;
        if (row->bits & ROCE_ROW_SEED)
            plan->to_take = BESIDE;
    }
}

static bool is_whole(const struct roce_rows *rows, const struct roce_excerpt_limits *limits) {
    return rows->count <= limits->whole && rows->bytes <= WHOLE_BYTES;
}

void roce_rows_choose(struct roce_rows *rows, const struct roce_excerpt_limits *limits) {
    struct choice *choice = calloc(1, sizeof *choice);
    if (choice == NULL || is_whole(rows, limits)) {
        for (uint64_t number = 1; number <= rows->count; number++)
            roce_row(rows, number)->bits |= ROCE_ROW_CHOSEN | ROCE_ROW_JUDGED;
        free(choice);
        return;
    }
    choice->rows = rows;
    choice->limits = limits;
    plan_all(choice);
    choose_judged(choice, at_least(limits->run / faulty_stations(rows), BESIDE));
    choose_before(choice);
    choose_behind(choice);
    free(choice);
}

// The first row behind `after` with one of those bits; 0 if there is none.
static uint64_t find(const struct roce_rows *rows, uint64_t after, uint8_t bits) {
    for (uint64_t number = after + 1; number <= rows->count; number++)
        if (roce_row(rows, number)->bits & bits)
            return number;
    return 0;
}

uint32_t roce_rows_stretches(const struct roce_rows *rows, const struct roce_excerpt_limits *limits,
                             struct roce_stretch stretches[ROCE_MOST_STRETCHES]) {
    if (is_whole(rows, limits)) {
        stretches[0] = (struct roce_stretch){1, rows->count};
        return 1;
    }
    const uint64_t average = rows->bytes / at_least(rows->count, 1) + 1;
    const uint64_t room = MOST_BYTES / 4 / average;
    const uint64_t length = limits->stretch < room ? limits->stretch : at_least(room, 100);
    uint32_t count = 0;
    uint64_t from = 0;
    const uint8_t bits = find(rows, 0, ROCE_ROW_ORDER) ? ROCE_ROW_ORDER : ROCE_ROW_AGAIN;
    while (count < ROCE_MOST_STRETCHES) {
        const uint64_t odd = find(rows, from, bits);
        if (odd == 0 && count > 0)
            break;
        const uint64_t first = odd <= from + 3 * length / 4 ? from + 1 : odd - length / 2;
        const uint64_t last = first + length - 1;
        stretches[count++] = (struct roce_stretch){first, last < rows->count ? last : rows->count};
        if (odd == 0 || last >= rows->count)
            break;
        from = last;
    }
    return count;
}
