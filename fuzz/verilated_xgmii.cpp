// SPDX-License-Identifier: BSD-2-Clause
//
// All that Verilator makes of the XGMII of bridge and MAC, with its library.
// fuzz_xgmii.cpp has what it says with, and what ends it.

int fuzz_heard(const char *format, ...);

#define VL_PRINTF fuzz_heard
#define VL_USER_STOP

#include "models.cpp"
#include "verilated.cpp"
#include "verilated_threads.cpp"
