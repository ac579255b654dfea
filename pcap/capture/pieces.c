// SPDX-License-Identifier: BSD-2-Clause
//
// Pieces of one usual size circulate between full and spare; one made for an
// outsize packet is freed.

#include "capture/pieces.h"

#include <stdlib.h>

#define USUAL_BYTES ((size_t)1 << 20)

static struct roce_piece *take_spare(struct roce_pieces *pieces, size_t room) {
    struct roce_piece *piece = pieces->spare;
    if (piece && room <= USUAL_BYTES) {
        pieces->spare = piece->next;
        return piece;
    }
    const size_t size = room > USUAL_BYTES ? room : USUAL_BYTES;
    piece = malloc(sizeof *piece + size);
    if (piece)
        piece->size = size;
    return piece;
}

struct roce_piece *roce_pieces_next(struct roce_pieces *pieces, size_t room, uint64_t newest) {
    struct roce_piece *piece = take_spare(pieces, room);
    if (!piece)
        return NULL;
    piece->next = NULL;
    struct roce_piece *full = pieces->current;
    if (full) {
        full->newest = newest;
        if (pieces->oldest)
            pieces->youngest->next = full;
        else
            pieces->oldest = full;
        pieces->youngest = full;
    }
    pieces->current = piece;
    return piece;
}

void roce_pieces_release(struct roce_pieces *pieces, uint64_t number) {
    while (pieces->oldest && pieces->oldest->newest <= number) {
        struct roce_piece *piece = pieces->oldest;
        pieces->oldest = piece->next;
        if (piece->size == USUAL_BYTES) {
            piece->next = pieces->spare;
            pieces->spare = piece;
        } else {
            free(piece);
        }
    }
}

static void free_list(struct roce_piece *piece) {
    while (piece) {
        struct roce_piece *next = piece->next;
        free(piece);
        piece = next;
    }
}

void roce_pieces_free(struct roce_pieces *pieces) {
    free_list(pieces->oldest);
    free_list(pieces->spare);
    free(pieces->current);
    *pieces = (struct roce_pieces){0};
}
