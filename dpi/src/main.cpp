// SPDX-License-Identifier: BSD-2-Clause
//
// Clock, reset and end of a Verilated simulation. Takes no decisions: the
// session says when to end, and the exit status is 0 for $finish, 1 for
// $fatal, $error and $stop. With +roceproof_goes_on those of the device do not
// end it, so that what comes of them is seen at its ports.

#include "Vroceproof.h"

#include <verilated.h>
#ifdef ROCEPROOF_COVERAGE
#include <verilated_cov.h>
#endif
#ifdef ROCEPROOF_FST
#include <verilated_fst_c.h>
#endif

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr int reset_cycles = 8;
constexpr int most_errors = 1000;
const std::string bench_files = "roceproof_";
constexpr vluint64_t high_ps = ROCEPROOF_CLOCK_PS / 2;
constexpr vluint64_t low_ps = ROCEPROOF_CLOCK_PS - high_ps;

std::string plusarg(VerilatedContext &context, const std::string &name) {
    const std::string match = context.commandArgsPlusMatch(name.c_str());
    return match.size() > name.size() + 2 ? match.substr(name.size() + 2) : "";
}

bool is_of_the_bench(const std::string &file) {
    return file.compare(file.rfind('/') + 1, bench_files.size(), bench_files) == 0;
}

} // namespace

void vl_stop(const char *file, int line, const char *) {
    VerilatedContext &context = *Verilated::threadContextp();
    const bool goes_on = *context.commandArgsPlusMatch("roceproof_goes_on") != '\0' &&
                         !is_of_the_bench(file) && context.errorCount() < most_errors;
    context.gotError(true);
    if (!goes_on) {
        context.gotFinish(true);
    }
    std::printf("%%Error: %s:%d: Verilog $stop\n", file, line);
}

int main(int argc, char **argv) {
    // Nothing outlives whoever started it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    auto context = std::make_unique<VerilatedContext>();
    context->commandArgs(argc, argv);
    context->fatalOnError(false);

#ifdef ROCEPROOF_FST
    const std::string waves = plusarg(*context, "roceproof_waves");
    std::unique_ptr<VerilatedFstC> trace;
    if (!waves.empty()) {
        context->traceEverOn(true);
        trace = std::make_unique<VerilatedFstC>();
    }
#endif

    auto top = std::make_unique<Vroceproof>(context.get());
#ifdef ROCEPROOF_FST
    if (trace) {
        top->trace(trace.get(), 99);
        trace->set_time_unit("1ps");
        trace->set_time_resolution("1ps");
        trace->open(waves.c_str());
    }
#endif
    auto step = [&](vluint64_t ps) {
        top->eval();
#ifdef ROCEPROOF_FST
        if (trace) {
            trace->dump(context->time());
        }
#endif
        context->timeInc(ps);
    };

    top->clk_i = 0;
    top->rst_ni = 0;
    step(low_ps);
    for (int cycle = 1; !context->gotFinish(); cycle += cycle <= reset_cycles) {
        top->clk_i = 1;
        step(high_ps);
        top->rst_ni = cycle >= reset_cycles;
        top->clk_i = 0;
        step(low_ps);
    }
    top->final();
#ifdef ROCEPROOF_COVERAGE
    const std::string coverage = plusarg(*context, "roceproof_coverage");
    if (!coverage.empty()) {
        context->coveragep()->write(coverage.c_str());
    }
#endif
#ifdef ROCEPROOF_FST
    if (trace) {
        trace->close();
    }
#endif
    std::fflush(stdout);
    return context->gotError() ? 1 : 0;
}
