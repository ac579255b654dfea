// SPDX-License-Identifier: BSD-2-Clause
//
// Buffers for packets that no mapping holds. Packets lie whole in a piece; a
// piece is used again once the last packet in it has been released.

#ifndef ROCEPROOF_CAPTURE_PIECES_H
#define ROCEPROOF_CAPTURE_PIECES_H

#include <stddef.h>
#include <stdint.h>

struct roce_piece {
    struct roce_piece *next;
    uint64_t newest; // the newest packet that may lie in it, once it is full
    size_t size;
    uint8_t bytes[];
};

struct roce_pieces {
    struct roce_piece *current;
    struct roce_piece *oldest; // the full ones, in order
    struct roce_piece *youngest;
    struct roce_piece *spare;
};

// Make a piece with room for at least `room` bytes the current one. The one before it is full
// from here on, and `newest` the newest packet that may lie in it. NULL without memory.
struct roce_piece *roce_pieces_next(struct roce_pieces *pieces, size_t room, uint64_t newest);

// Packets up to and including that number are no longer needed.
void roce_pieces_release(struct roce_pieces *pieces, uint64_t number);

void roce_pieces_free(struct roce_pieces *pieces);

#endif
