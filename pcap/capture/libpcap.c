// SPDX-License-Identifier: BSD-2-Clause

#include "capture/libpcap.h"

#include <dlfcn.h>
#include <stdio.h>

// As Debian and Ubuntu call it, and as everybody else does.
static void *open_library(void) {
    void *handle = dlopen("libpcap.so.0.8", RTLD_NOW | RTLD_LOCAL);
    return handle ? handle : dlopen("libpcap.so.1", RTLD_NOW | RTLD_LOCAL);
}

bool roce_libpcap_load(struct roce_libpcap *library, char *error, size_t error_bytes) {
    *library = (struct roce_libpcap){.handle = open_library()};
    if (!library->handle) {
        snprintf(error, error_bytes, "libpcap is not installed: apt-get install libpcap0.8");
        return false;
    }
#define FIND(name)                                                                                 \
    *(void **)(void *)&library->name = dlsym(library->handle, "pcap_" #name);                      \
    if (!library->name) {                                                                          \
        snprintf(error, error_bytes, "libpcap is too old: it has no pcap_" #name);                 \
        roce_libpcap_unload(library);                                                              \
        return false;                                                                              \
    }
    ROCE_LIBPCAP(FIND)
#undef FIND
    return true;
}

void roce_libpcap_unload(struct roce_libpcap *library) {
    dlclose(library->handle);
    *library = (struct roce_libpcap){0};
}
