// SPDX-License-Identifier: BSD-2-Clause
//
// Reads frames as hexadecimal lines on stdin and prints one verdict on their RoCEv2
// packet a line: "not-roce", "malformed", or "ok" or "bad" with found and right ICRC.
// Exit 0 when every line was readable, 2 at the first that was not.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "packet/packet.h"

// Turns hex digits into bytes in place; returns their number or -1.
static ssize_t decode_hex(char *line, size_t length) {
    if (length % 2 != 0)
        return -1;
    for (size_t i = 0; i < length; i += 2) {
        if (!isxdigit((unsigned char)line[i]) || !isxdigit((unsigned char)line[i + 1]))
            return -1;
        const char digits[3] = {line[i], line[i + 1], '\0'};
        line[i / 2] = (char)strtoul(digits, NULL, 16);
    }
    return (ssize_t)(length / 2);
}

static void print_icrc(uint32_t icrc) {
    putchar(' ');
    for (int byte = 0; byte < ROCE_ICRC_BYTES; byte++)
        printf("%02x", icrc >> 8 * byte & 0xFFU);
}

static void print_verdict(const uint8_t *frame, size_t size) {
    const struct roce_record record = {
        .data = frame, .size = (uint32_t)size, .full_size = (uint32_t)size, .is_ethernet = true};
    struct roce_packet packet;
    roce_inspect(&record, &packet);
    if (packet.class != ROCE_V2) {
        puts("not-roce");
    } else if (packet.verdict == ROCE_UNCHECKED) {
        puts("malformed");
    } else {
        fputs(packet.verdict == ROCE_OK ? "ok" : "bad", stdout);
        print_icrc(packet.found);
        print_icrc(packet.right);
        putchar('\n');
    }
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    size_t number = 0;
    int status = EXIT_SUCCESS;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) > 0) {
        number++;
        if (line[length - 1] == '\n')
            length--;
        const ssize_t size = decode_hex(line, (size_t)length);
        if (size < 0) {
            fprintf(stderr, "line %zu: not an even number of hex digits\n", number);
            status = 2;
            break;
        }
        print_verdict((const uint8_t *)line, (size_t)size);
    }
    free(line);
    return status;
}
