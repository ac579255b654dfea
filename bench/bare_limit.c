// SPDX-License-Identifier: BSD-2-Clause
//
// What no checker can do without: map a pcap file, walk its records and run the
// library's CRC over each packet from the IP header to the ICRC. No masking, no
// comparison, no bounds beyond the file's end. In several threads each walks all
// records, and runs the CRC over its share of runs of them. With "own" the CRC is
// roce-check's. Prints packets and bytes.

#include <fcntl.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packet/checksum.h"

enum {
    FILE_HEADER_BYTES = 24,
    RECORD_HEADER_BYTES = 16,
    ETHERNET_BYTES = 14,
    ICRC_BYTES = 4,
    RUN = 128, // packets
    MOST_THREADS = 16,
};

struct share {
    const uint8_t *file;
    size_t size;
    uint64_t number, threads;
    uint64_t packets; // of the whole file
    uint32_t sum;
    bool own;
    pthread_t thread;
};

static uint32_t crc_of(const struct share *share, const uint8_t *data, size_t bytes) {
    return share->own ? roce_crc_in_row(0, data, bytes) : libdeflate_crc32(0, data, bytes);
}

static void *walk(void *argument) {
    struct share *share = argument;
    for (size_t at = FILE_HEADER_BYTES; at + RECORD_HEADER_BYTES <= share->size; share->packets++) {
        uint32_t bytes;
        memcpy(&bytes, share->file + at + 8, sizeof bytes);
        const uint8_t *frame = share->file + at + RECORD_HEADER_BYTES;
        if (share->threads == 1 || share->packets / RUN % share->threads == share->number)
            share->sum ^=
                crc_of(share, frame + ETHERNET_BYTES, bytes - ETHERNET_BYTES - ICRC_BYTES);
        at += RECORD_HEADER_BYTES + bytes;
    }
    return NULL;
}

int main(int count, char **arguments) {
    struct stat status;
    const unsigned long threads = count >= 3 ? strtoul(arguments[2], NULL, 10) : 1;
    const bool own = count == 4 && strcmp(arguments[3], "own") == 0;
    const int fd = count >= 2 ? open(arguments[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &status) != 0 || threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: bare_limit FILE.pcap [THREADS [own]]\n");
        return 2;
    }
    const size_t size = (size_t)status.st_size;
    const uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED) {
        perror(arguments[1]);
        return 2;
    }
    madvise((void *)(uintptr_t)file, size, MADV_SEQUENTIAL);
    struct share shares[MOST_THREADS];
    for (unsigned long i = 0; i < threads; i++)
        shares[i] =
            (struct share){.file = file, .size = size, .number = i, .threads = threads, .own = own};
    for (unsigned long i = 1; i < threads; i++)
        if (pthread_create(&shares[i].thread, NULL, walk, &shares[i]) != 0)
            return 2;
    walk(&shares[0]);
    for (unsigned long i = 1; i < threads; i++) {
        pthread_join(shares[i].thread, NULL);
        shares[0].sum ^= shares[i].sum;
    }
    printf("%" PRIu64 " %zu %08" PRIx32 "\n", shares[0].packets, size, shares[0].sum);
    return 0;
}
