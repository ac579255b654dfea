/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Shows deviations of rdma_rxe from the InfiniBand specification on this machine's kernel, alone:
 *
 *     cc -o rxe_wire rxe_wire.c bench.c requester.c responder.c -libverbs
 *     sudo ./rxe_wire [CASE]...
 *
 * Without a CASE all of them are run. It speaks TAP: `ok` where the kernel does what is due, `not
 * ok` where it deviates, a skip where there is no telling. Exit code 0: all is as it should be;
 * 1: something deviates; 4: nothing could be told. Use a virtual machine: on kernels before 6.12
 * `zero-dmalen` makes it panic.
 */
#include "cases.h"

#include <stdio.h>
#include <string.h>

enum { PASSED, FAILED, SKIPPED = 4 };

static const struct named_case *const tables[] = {requester_cases, responder_cases};

static bool is_wanted(const char *name, int count, char **words) {
    for (int at = 1; at < count; at++)
        if (!strcmp(words[at], name))
            return true;
    return count < 2;
}

static enum verdict verdict_of(const struct named_case *each) {
    static struct bench bench;
    bench = (struct bench){0};
    open_bench(&bench);
    make_qp(&bench, each->wish);
    connect_qp(&bench);
    enum verdict verdict = each->run(&bench);
    drop_qp(&bench);
    close_bench(&bench);
    return verdict;
}

int main(int count, char **words) {
    int number = 0, wanted = 0, told = 0, code = PASSED;
    for (size_t table = 0; table < sizeof tables / sizeof *tables; table++)
        for (const struct named_case *each = tables[table]; each->name; each++)
            wanted += is_wanted(each->name, count, words);
    printf("TAP version 13\n1..%d\n", wanted);
    for (size_t table = 0; table < sizeof tables / sizeof *tables; table++)
        for (const struct named_case *each = tables[table]; each->name; each++) {
            if (!is_wanted(each->name, count, words))
                continue;
            enum verdict verdict = verdict_of(each);
            printf("%s %d %s%s\n", verdict == DEVIATES ? "not ok" : "ok", ++number, each->name,
                   verdict == UNTOLD ? " # SKIP no way to tell" : "");
            fflush(stdout);
            told += verdict != UNTOLD;
            if (verdict == DEVIATES)
                code = FAILED;
        }
    return told ? code : SKIPPED;
}
