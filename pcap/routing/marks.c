// SPDX-License-Identifier: BSD-2-Clause
//
// CE marks, which a CNP answers: docs/observer.md, section 5.

#include "routing/marks.h"

enum { CONGESTION_EXPERIENCED = 3 };

bool roce_is_marked(const struct roce_packet *packet) {
    const uint8_t *ip = packet->frame + packet->ip;
    const uint8_t class = packet->version == 4 ? ip[1] : (uint8_t)(roce_u16(ip) >> 4);
    return (class & 3) == CONGESTION_EXPERIENCED;
}

// A CE mark anywhere on the way from A to B may bring a CNP from B to A.
void roce_note_mark(struct roce_oracle *oracle, const struct roce_key *key) {
    oracle->any_mark = true;
    struct roce_route *route =
        roce_route_get(&oracle->routes, ROCE_ANY_INTERFACE, &key->source, &key->destination);
    if (route != NULL)
        route->marked = true;
    else
        oracle->lost_mark = true;
}

uint8_t roce_marks_of(const struct roce_oracle *oracle, const struct roce_key *key) {
    const struct roce_route *route =
        roce_route_find(&oracle->routes, ROCE_ANY_INTERFACE, &key->destination, &key->source);
    const bool marked = (route != NULL && route->marked) || oracle->lost_mark;
    return (uint8_t)((marked ? ROCE_WAY_MARKED : 0) | (oracle->any_mark ? ROCE_ANY_MARKED : 0));
}
