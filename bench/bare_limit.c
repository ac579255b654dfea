// SPDX-License-Identifier: BSD-2-Clause
//
// What no checker can do without: map a pcap file, walk its records and run the
// library's CRC over each packet from the IP header to the ICRC. No masking, no
// comparison, no bounds beyond the file's end. Prints packets and bytes.

#include <fcntl.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_HEADER_BYTES = 24,
    RECORD_HEADER_BYTES = 16,
    ETHERNET_BYTES = 14,
    ICRC_BYTES = 4,
};

int main(int count, char **arguments) {
    struct stat status;
    const int fd = count == 2 ? open(arguments[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &status) != 0) {
        fprintf(stderr, "usage: bare_limit FILE.pcap\n");
        return 2;
    }
    const size_t size = (size_t)status.st_size;
    const uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED) {
        perror(arguments[1]);
        return 2;
    }
    madvise((void *)(uintptr_t)file, size, MADV_SEQUENTIAL);
    uint64_t packets = 0;
    uint32_t sum = 0;
    for (size_t at = FILE_HEADER_BYTES; at + RECORD_HEADER_BYTES <= size; packets++) {
        uint32_t bytes;
        memcpy(&bytes, file + at + 8, sizeof bytes);
        const uint8_t *frame = file + at + RECORD_HEADER_BYTES;
        sum ^= libdeflate_crc32(0, frame + ETHERNET_BYTES, bytes - ETHERNET_BYTES - ICRC_BYTES);
        at += RECORD_HEADER_BYTES + bytes;
    }
    printf("%" PRIu64 " %zu %08" PRIx32 "\n", packets, size, sum);
    return 0;
}
