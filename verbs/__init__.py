# SPDX-License-Identifier: BSD-2-Clause
"""The vocabulary of RDMA verbs: services, queue pairs, work, completions and addresses.

Values only, which every room may name: the bridge to a simulated device, the reference
model, the devices under test and the cases. What drives a device is not in here.
"""
