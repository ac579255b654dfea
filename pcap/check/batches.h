// SPDX-License-Identifier: BSD-2-Clause
//
// Reads a capture in batches, inspects them in any number of threads, and judges them
// in order: the verdicts do not depend on the number of threads.

#ifndef ROCEPROOF_CHECK_BATCHES_H
#define ROCEPROOF_CHECK_BATCHES_H

#include "oracle/oracle.h"

typedef void roce_progress(void *context, const struct roce_capture *capture);

// Judge the whole capture with that many threads, this one included. `progress`, if not NULL, is
// called after each batch. Returns ROCE_CAPTURE_END or ROCE_CAPTURE_ERROR.
enum roce_capture_status roce_check_capture(struct roce_capture *capture,
                                            struct roce_oracle *oracle, unsigned int threads,
                                            roce_progress *progress, void *context);

#endif
