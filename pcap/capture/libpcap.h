// SPDX-License-Identifier: BSD-2-Clause
//
// libpcap, loaded when somebody captures live: reading files needs none of it.

#pragma once

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stddef.h>

// What is called of it, without the prefix pcap_.
#define ROCE_LIBPCAP(EACH)                                                                         \
    EACH(activate)                                                                                 \
    EACH(breakloop)                                                                                \
    EACH(close)                                                                                    \
    EACH(compile)                                                                                  \
    EACH(create)                                                                                   \
    EACH(datalink)                                                                                 \
    EACH(freecode)                                                                                 \
    EACH(get_tstamp_precision)                                                                     \
    EACH(geterr)                                                                                   \
    EACH(next_ex)                                                                                  \
    EACH(set_buffer_size)                                                                          \
    EACH(set_immediate_mode)                                                                       \
    EACH(set_promisc)                                                                              \
    EACH(set_snaplen)                                                                              \
    EACH(set_tstamp_precision)                                                                     \
    EACH(setfilter)                                                                                \
    EACH(stats)                                                                                    \
    EACH(statustostr)

struct roce_libpcap {
    void *handle;
#define ROCE_MEMBER(name) __typeof__(pcap_##name) *name;
    ROCE_LIBPCAP(ROCE_MEMBER)
#undef ROCE_MEMBER
};

// Load it; false with a text that says how to get it.
bool roce_libpcap_load(struct roce_libpcap *library, char *error, size_t error_bytes);

void roce_libpcap_unload(struct roce_libpcap *library);
