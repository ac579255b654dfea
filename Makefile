# SPDX-License-Identifier: BSD-2-Clause
# Every target does the part of the set-up that it needs; the first run fetches,
# later runs are offline. Products go to build/ and .venv/ only.

BUILD  := build
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

# The distribution's Python, which is optimized and often a third faster than one built at home.
PYTHON ?= $(or $(shell /usr/bin/python3 -c 'import sys; sys.version_info < (3, 11) or print(sys.executable)' 2>/dev/null),python3)

# The tests start hundreds of Pythons, and what Python compiles it should keep.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

# Makefiles, ours and Verilator's, cannot quote what a path may hold. (pwd itself ends one line.)
ifneq ($(shell pwd | LC_ALL=C tr -d 'A-Za-z0-9/._+@~\200-\377-' | wc -c),1)
$(error Makefiles cannot build in this folder: move the clone to a path of letters, digits and /._+@~- only)
endif

.PHONY: help setup dist demo demo-receive demo-tap test test-whole test-wheel test-full mutants kernels reproducers upstream interop nic-agent nic-rehearsal coverage calibrate docs pictures exercise lint format bench bench-rtl bench-check bench-explain synth formal bench-fuzz fuzz stock-captures clean distclean c-test

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: packages-run $(VENV)/.ready ## install what is missing; console command in .venv/bin/roceproof

demo: setup ## an HDL transmitter writes into a real Soft-RoCE receiver
	@$(BIN)/roceproof demo

demo-receive: setup ## the other direction: Soft-RoCE writes into simulated memory
	@$(BIN)/roceproof demo-receive

demo-tap: setup ## ping the simulated endpoint through a TAP, without root
	@$(BIN)/roceproof demo-tap

test: setup packages-test packages-dist c-test ## all tests that belong in every change
	@$(PYTEST) -m "not slow"

test-whole: setup packages-test c-test ## the whole suite on the endpoint, the responder, the model and the examples; CI does it, too
	@$(PYTEST) -m whole

test-wheel: setup packages-test packages-dist c-test ## the wheel, built and tried in an empty environment; CI does it, too
	@$(BIN)/pytest tests/wheel --deselect tests/wheel/test_wheel_slow.py

test-full: setup packages-test packages-dist c-test ## everything: slow tests, whole suites on every target, all mutants
	@$(PYTEST)
	@$(MAKE) --no-print-directory mutants

mutants: setup ## every planted fault against the cases that must find it, and how far these reach: build/mutants/
	@$(BIN)/python -m roceproof.conformance.matrix
	@$(BIN)/python -m roceproof.conformance.matrix.measure

long-life: setup ## a million frames, and all PSNs twice, byte by byte: half an hour at most
	@$(BIN)/roceproof test --target hdl --suite long -j 2

kernels: setup ## the suite on Soft-RoCE of 6.1, 6.12 and the newest kernel, side by side: build/kernels/
	@$(BIN)/roceproof kernels

interop: setup ## stock RDMA tools in a guest as clients of the model and of our RTL: build/interop/
	@$(BIN)/roceproof interop

reproducers: setup ## docs/upstream, run in guests with the kernels that its table names
	@$(BIN)/python -m roceproof.conformance.kernels.reproducers

upstream: setup ## the patches of docs/upstream, built and tried on 6.12 and the newest kernel
	@$(BIN)/python -m roceproof.conformance.kernels.upstream

nic-agent: setup ## the verbs agent as one file, to be copied to a NIC's host: build/nic/roceproof-agent
	@$(BIN)/roceproof nic agent -o $(BUILD)/nic/roceproof-agent

nic-rehearsal: setup ## the kit for NICs with guests as cards, from doctor to matrix: build/nic/
	@$(BIN)/roceproof nic rehearse

coverage: setup ## lines, branches and bits of the endpoint that the full suite exercises: build/coverage/index.html
	@$(BIN)/python -m roceproof.conformance.code_coverage

calibrate: setup ## random devices with known faults against explain: DEVICES=5000 SEED=1 JOBS=2
	@$(BIN)/python -m roceproof.conformance.calibration --devices $(or $(DEVICES),5000) --seed $(or $(SEED),1) -j $(or $(JOBS),2)

docs: setup ## the documentation site with its links checked: build/docs/index.html
	@$(BIN)/sphinx-build -q -W --keep-going -n -j auto -d $(BUILD)/docs.read -c ci/docs . $(BUILD)/docs
	@echo $(BUILD)/docs/index.html

pictures: setup packages-test ## the pictures of the documents taken anew, from a real run: docs/pictures
	@$(BIN)/python ci/docs/pictures.py

exercise: packages-run ## examples/byte_endpoint with nine faults to be found: build/byte_endpoint_buggy/
	@rm -rf $(BUILD)/byte_endpoint_buggy && mkdir -p $(BUILD)
	@cp -r examples/byte_endpoint $(BUILD)/byte_endpoint_buggy
	@patch -s -d $(BUILD)/byte_endpoint_buggy -p1 < examples/byte_endpoint_buggy/faults.patch
	@echo $(BUILD)/byte_endpoint_buggy/dut.toml

lint: setup packages-test ## style and static checks of every language
	@ci/lint.sh

format: setup ## rewrite C and Python sources in the project's style
	@$(BIN)/ruff check -q --fix . && $(BIN)/ruff format -q .
	@git ls-files '*.c' '*.h' '*.cpp' | xargs $(BIN)/clang-format -i

dist: setup packages-dist ## the wheel and the source distribution: build/dist
	@ci/dist.sh

bench: setup ## simulated cycles per second, bare and with the bridge
	@$(BIN)/python bench/simulation.py

bench-rtl: setup ## how near the endpoint comes to line rate, in simulated time: build/bench/rtl.json; PAGE=1 renews the page
	@$(BIN)/python bench/line_rate.py $(if $(PAGE),--page)

bench-check: setup packages-test ## checked packets per second, beside the bare limit, tshark and Scapy
	@$(MAKE) --no-print-directory -C bench BUILD=$(CURDIR)/$(BUILD)/bench PCAP=$(CURDIR)/$(BUILD)/pcap check
	@$(BIN)/python bench/check.py

bench-explain: setup packages-test ## seconds and memory that explaining captures of 1 GiB takes
	@$(MAKE) --no-print-directory -C bench BUILD=$(CURDIR)/$(BUILD)/bench PCAP=$(CURDIR)/$(BUILD)/pcap explain
	@PATH=$(BIN):$$PATH $(BIN)/python bench/explain.py

bench-fuzz: setup ## how soon campaigns find planted faults, and what two workers are worth: ARGS="--of responder" or "--paces"
	@$(BIN)/python bench/fuzz.py $(ARGS)

synth: setup $(BUILD)/synth/venv/.ready ## what the endpoint costs in an FPGA, by Yosys and nextpnr: build/synth/synth.json; PAGE=1 renews the page
	@$(BIN)/python bench/synthesis.py $(if $(PAGE),--page) $(if $(ONLY),--only $(ONLY))

formal: setup $(BUILD)/synth/venv/.ready ## FIFO, fork and multiplexer of the RTL proved by induction, each proof with mutants that it refutes
	@$(BIN)/python rtl/formal/prove.py

fuzz: setup packages-test packages-fuzz ## libFuzzer on each target: RUNS=1000000 SECONDS=600 SEED=1
	@$(MAKE) --no-print-directory -j 2 -C fuzz BUILD=$(CURDIR)/$(BUILD)/fuzz CHECKED=$(CURDIR)/$(BUILD)/pcap fuzz

stock-captures: setup packages-test ## record stock RDMA tools over Soft-RoCE anew, as test data
	@$(BIN)/python -m roceproof.conformance.interop.stock.captures tests/captures/rxe

clean: ## remove build products (cached kernels stay)
	rm -rf $(BUILD)

distclean: clean ## remove the Python environment, too
	rm -rf $(VENV) *.egg-info

c-test: packages-run packages-test
	@$(MAKE) --no-print-directory -s -j $(shell nproc) -C pcap BUILD=$(CURDIR)/$(BUILD)/pcap all
	@$(MAKE) --no-print-directory -C pcap BUILD=$(CURDIR)/$(BUILD)/pcap test

packages-%:
	@ci/install.sh $*

$(BUILD)/synth/venv/.ready: bench/synthesis.txt
	@echo "preparing $(@D)" >&2
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@

# An environment that does not work is made anew: its Python has gone, or the folder was moved.
VENV_WORKS := import click, os, roceproof.cli.entry as it; \
	print(os.path.samefile(it.__file__, "cli/entry.py"))
ifneq ($(wildcard $(VENV)/.ready),)
ifneq ($(shell $(BIN)/python -c '$(VENV_WORKS)' 2>/dev/null),True)
$(shell echo "roceproof: $(VENV) does not work here; making it anew" >&2; rm -rf $(VENV))
endif
endif

$(VENV)/.ready: ci/requirements.lock pyproject.toml | packages-run
	@echo "preparing $(VENV)" >&2
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r ci/requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
