// SPDX-License-Identifier: BSD-2-Clause
//
// Runs a target over files without a fuzzer. Each input lies in a heap block of
// exactly its size, so that a sanitizer sees one byte read too far.

#include <stdio.h>
#include <stdlib.h>

#include "target.h"

static int replay(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        return 2;
    }
    const size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, file) != size) {
        perror(path);
        return 2;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        if (replay(arguments[i]) != 0)
            return 2;
    }
    printf("%d inputs\n", count - 1);
    return 0;
}
