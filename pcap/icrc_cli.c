// SPDX-License-Identifier: BSD-2-Clause
//
// Reads frames as hexadecimal lines on stdin and prints one verdict a line:
// the word, then found and computed ICRC where there is a packet to judge.
// Exit 0 when every line was readable, 2 at the first that was not.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "icrc.h"

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

static void print_verdict(const struct roce_icrc_result *result) {
    fputs(roce_icrc_verdict_name(result->verdict), stdout);
    if (result->verdict == ROCE_ICRC_OK || result->verdict == ROCE_ICRC_BAD) {
        const uint8_t *f = result->found;
        const uint8_t *c = result->computed;
        printf(" %02x%02x%02x%02x %02x%02x%02x%02x", f[0], f[1], f[2], f[3], c[0], c[1], c[2],
               c[3]);
    }
    putchar('\n');
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
        const struct roce_icrc_result result = roce_icrc_check((const uint8_t *)line, (size_t)size);
        print_verdict(&result);
    }
    free(line);
    return status;
}
