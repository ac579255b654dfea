// SPDX-License-Identifier: BSD-2-Clause
//
// Limits of an Ethernet frame without FCS as it crosses a simulated port.

#ifndef ROCEPROOF_FRAME_H
#define ROCEPROOF_FRAME_H

enum {
    FRAME_MIN = 60,   // shorter received frames are padded with zeros, as a sender's MAC does
    FRAME_MAX = 9216, // longer ones are errors from the DUT and the host, drops from a link
};

#endif
