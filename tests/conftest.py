# SPDX-License-Identifier: BSD-2-Clause
"""Lets what the tests start be interrupted, also where a script runs them in the background.

Such a shell hands SIGINT down as ignored (and nohup SIGHUP), and so it would stay for every child.
"""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
