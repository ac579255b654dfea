// SPDX-License-Identifier: BSD-2-Clause
//
// roce-check: judges one capture and prints JSON lines (check/lines.h).
//
//   roce-check [-j THREADS] [--qps FILE] [--max N] [--progress] FILE
//   roce-check [options] [--duration SECONDS] -i INTERFACE
//   roce-check [--qps FILE] --excerpt WHOLE,STRETCH,WRONG,RUN FILE
//
// The last one writes an excerpt (excerpt.h) in place of verdicts.
// FILE "-" is stdin; --max 0 prints all findings, however many. Exit code 0: no rule of
// severity must or should is broken; 1: one is; 2: nothing could be judged, or the
// capture is damaged, or the usage is wrong.

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "check/batches.h"
#include "check/lines.h"
#include "excerpt/excerpt.h"

enum { CLEAN = 0, FINDINGS = 1, UNREADABLE = 2 };
enum { ERROR_BYTES = 512, PROGRESS_NS = 100000000, OUTPUT_BYTES = 1 << 16 };

struct options {
    const char *file;
    const char *interface;
    const char *facts;
    unsigned long threads;
    unsigned long most;
    double duration;
    bool progress;
    bool excerpt;
    struct roce_excerpt_limits limits;
};

struct printing {
    FILE *out;
    unsigned long most; // 0: no bound
    unsigned long printed;
    uint64_t told_ns;
};

// The live capture that a signal ends; there is no other way to hand it to a handler.
static struct roce_capture *volatile live;

static void stop(int signal) {
    (void)signal;
    if (live != NULL)
        roce_capture_stop(live);
}

// A file that another process cuts short while it is mapped raises SIGBUS where bytes are gone.
static void give_up(int signal) {
    static const char TEXT[] = "the file was cut short while it was being read\n";
    (void)signal;
    (void)!write(STDERR_FILENO, TEXT, sizeof TEXT - 1);
    _exit(UNREADABLE);
}

static void print_finding(void *context, const struct roce_finding *finding) {
    struct printing *printing = context;
    if (printing->most == 0 || printing->printed < printing->most)
        roce_print_finding(printing->out, finding);
    printing->printed++;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void print_progress(void *context, const struct roce_capture *capture) {
    struct printing *printing = context;
    const uint64_t now = now_ns();
    if (now - printing->told_ns < PROGRESS_NS)
        return;
    printing->told_ns = now;
    uint64_t consumed;
    uint64_t total;
    roce_capture_position(capture, &consumed, &total);
    roce_print_progress(printing->out, consumed, total);
}

static bool read_number(const char *text, unsigned long *number) {
    char *end;
    *number = strtoul(text, &end, 10);
    return end != text && *end == '\0' && text[0] != '-';
}

static bool read_limits(const char *text, struct roce_excerpt_limits *limits) {
    uint64_t *const numbers[] = {&limits->whole, &limits->stretch, &limits->wrong, &limits->run};
    for (size_t i = 0; i < 4; i++) {
        char *end;
        *numbers[i] = strtoul(text, &end, 10);
        if (end == text || *end != (i < 3 ? ',' : '\0') || *text == '-' || *numbers[i] > UINT32_MAX)
            return false;
        text = end + 1;
    }
    return true;
}

static bool read_options(int count, char **arguments, struct options *options) {
    static const struct option LONG[] = {
        {"qps", required_argument, NULL, 'q'},      {"max", required_argument, NULL, 'm'},
        {"duration", required_argument, NULL, 'd'}, {"progress", no_argument, NULL, 'p'},
        {"excerpt", required_argument, NULL, 'e'},  {0},
    };
    char *end;
    for (int option; (option = getopt_long(count, arguments, "j:i:", LONG, NULL)) != -1;) {
        switch (option) {
        case 'j':
            if (!read_number(optarg, &options->threads) || options->threads == 0)
                return false;
            break;
        case 'm':
            if (!read_number(optarg, &options->most))
                return false;
            break;
        case 'd':
            options->duration = strtod(optarg, &end);
            if (end == optarg || *end != '\0' || !(options->duration > 0))
                return false;
            break;
        case 'i':
            options->interface = optarg;
            break;
        case 'q':
            options->facts = optarg;
            break;
        case 'p':
            options->progress = true;
            break;
        case 'e':
            options->excerpt = read_limits(optarg, &options->limits);
            if (!options->excerpt)
                return false;
            break;
        default:
            return false;
        }
    }
    const int files = count - optind;
    options->file = files == 1 ? arguments[optind] : NULL;
    return options->interface ? files == 0 && !options->excerpt : files == 1;
}

static void arm(const struct options *options, struct roce_capture *capture) {
    live = capture;
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    if (options->duration > 0) {
        const long seconds = (long)options->duration;
        const long rest = (long)((options->duration - (double)seconds) * 1e6);
        const struct itimerval timer = {.it_value = {seconds, rest}};
        setitimer(ITIMER_REAL, &timer, NULL);
    }
}

static int check(const struct options *options, struct roce_capture *capture,
                 const struct roce_facts *facts) {
    struct printing printing = {.out = stdout, .most = options->most, .told_ns = now_ns()};
    struct roce_oracle *oracle = roce_oracle_create(facts, print_finding, &printing);
    if (oracle == NULL) {
        fprintf(stderr, "out of memory\n");
        return UNREADABLE;
    }
    const enum roce_capture_status status =
        roce_check_capture(capture, oracle, (unsigned int)options->threads,
                           options->progress ? print_progress : NULL, &printing);
    roce_finish(oracle);
    const bool damaged = status == ROCE_CAPTURE_ERROR;
    const struct roce_totals *totals = roce_oracle_totals(oracle);
    const bool broken = totals->severities[ROCE_MUST] + totals->severities[ROCE_SHOULD] > 0;
    roce_print_flows(stdout, oracle);
    roce_print_summary(stdout, oracle, damaged ? roce_capture_error(capture) : NULL);
    roce_oracle_destroy(oracle);
    return damaged ? UNREADABLE : broken ? FINDINGS : CLEAN;
}

static int excerpt(const struct options *options, const struct roce_facts *facts) {
    char error[ERROR_BYTES];
    if (roce_excerpt(options->file, facts, &options->limits, stdout, error, sizeof error))
        return fflush(stdout) == 0 ? CLEAN : UNREADABLE;
    fprintf(stderr, "%s: %s\n", options->file, error);
    return UNREADABLE;
}

int main(int count, char **arguments) {
    struct options options = {.threads = 1, .most = 10000};
    if (!read_options(count, arguments, &options)) {
        fprintf(stderr, "usage: roce-check [-j THREADS] [--qps FILE] [--max N] [--progress] "
                        "{FILE | -i INTERFACE [--duration SECONDS]}\n");
        return UNREADABLE;
    }
    char error[ERROR_BYTES];
    struct roce_facts facts = {0};
    if (options.facts != NULL && !roce_facts_load(&facts, options.facts, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return UNREADABLE;
    }
    sigaction(SIGBUS, &(struct sigaction){.sa_handler = give_up}, NULL);
    setvbuf(stdout, NULL, _IOFBF, OUTPUT_BYTES);
    if (options.excerpt) {
        const int result = excerpt(&options, &facts);
        roce_facts_free(&facts);
        return result;
    }
    const char *name = options.interface ? options.interface : options.file;
    struct roce_capture *capture =
        options.interface ? roce_capture_open_live(options.interface, error, sizeof error)
                          : roce_capture_open(options.file, error, sizeof error);
    if (capture == NULL) {
        fprintf(stderr, "%s: %s\n", name, error);
        roce_facts_free(&facts);
        return UNREADABLE;
    }
    if (options.interface != NULL) {
        options.threads = 1; // a batch would hold packets back until it is full
        arm(&options, capture);
    }
    const int result = check(&options, capture, &facts);
    live = NULL;
    roce_capture_close(capture);
    roce_facts_free(&facts);
    return fflush(stdout) == 0 ? result : UNREADABLE;
}
