# SPDX-License-Identifier: BSD-2-Clause
"""Stock RDMA tools in a guest as clients of the reference model and of a simulated device.

Tool and kernel are as they come; what they talk to is a device under test and a bench.
"""
