# SPDX-License-Identifier: BSD-2-Clause
"""The commands, and what stands below the options of each in its help: proven to parse."""

_EXAMPLES = {
    "": """
        roceproof check capture.pcapng     # which rules a capture breaks
        roceproof explain capture.pcapng   # which fault makes its ICRCs or PSNs wrong
        roceproof test --target model      # the conformance suite
    """,
    "demo": """
        roceproof demo                                   # the reference endpoint
        roceproof demo --dut rtl/dut.toml --width 512    # a device by its manifest
        roceproof demo --short --waves                   # few messages, with waves
        roceproof demo --kernel newest                   # a receiver of another kernel
    """,
    "demo-receive": """
        roceproof demo-receive                           # the reference endpoint's responder
        roceproof demo-receive --dut rtl/responder.toml --width 512
        roceproof demo-receive --loss 1                  # of a hundred frames, each way
    """,
    "demo-tap": """
        roceproof demo-tap
        roceproof demo-tap --width 512
    """,
    "sim": """
        roceproof sim --link tap:tap0                            # on a TAP that you made
        roceproof sim --link socket:/tmp/wire --dut rtl/dut.toml # in a socket
        roceproof sim --link pcap:capture.pcap --capture out.pcapng --duration 1
        roceproof sim --link tap:tap0 --line rate=1000000000,loss=1000000 # 1 Gb/s, 0.1 % lost
    """,
    "soak": """
        roceproof soak                                 # a minute on the reference endpoint
        roceproof soak --dut rtl/dut.toml --minutes 480 -j 8
        roceproof soak --target model --seed 1000
    """,
    "fuzz": """
        roceproof fuzz run --minutes 480 -j 8   # a night on the reference endpoint
        roceproof fuzz report                   # what it has found
    """,
    "fuzz run": """
        roceproof fuzz run                                 # ten minutes, in build/fuzz
        roceproof fuzz run build/night --dut rtl/dut.toml --width 64 --minutes 480 -j 8
        roceproof fuzz run build/model --target model --minutes 1
        roceproof fuzz run build/kernel --target rxe --kernel 6.1 -j 1
        roceproof fuzz run --cluster tcp://head:8786       # on the workers of a Dask cluster
    """,
    "fuzz import": """
        roceproof fuzz import capture.pcapng
        roceproof fuzz import fpga.pcapng nic.pcapng --folder build/night
    """,
    "fuzz minimise": """
        roceproof fuzz minimise mine.plan
        roceproof fuzz minimise mine.plan --dut rtl/dut.toml --width 64 -o small.plan
    """,
    "fuzz status": """
        roceproof fuzz status
        roceproof fuzz status build/night --json
    """,
    "fuzz report": """
        roceproof fuzz report
        roceproof fuzz report build/night --json
    """,
    "scenario": """
        roceproof scenario list
        roceproof scenario run wan-policer-lan --quick
        roceproof scenario all --quick                 # every one: build/scenarios/scenarios.html
    """,
    "scenario list": """
        roceproof scenario list
        roceproof scenario list --json
    """,
    "scenario run": """
        roceproof scenario run daq-loss-flags
        roceproof scenario run radio-fair wan-share --quick --seed 7 -j 2
        roceproof scenario run mine.toml --no-plots --json
        roceproof scenario run light-throughput --dut rtl/dut.toml --width 512 --quick
    """,
    "scenario all": """
        roceproof scenario all --quick
        roceproof scenario all --out build/scenarios -j 8
        roceproof scenario all --cluster tcp://head:8786 # the event model on a Dask cluster
    """,
    "scenario report": """
        roceproof scenario report
        roceproof scenario report build/scenarios
    """,
    "gate": """
        roceproof gate rtl/dut.toml                           # one verdict, with a page
        roceproof gate rtl/dut.toml --suite smoke --no-guest  # in a minute
        roceproof gate rtl/dut.toml --width 64 -j 8 --json
    """,
    "new": """
        roceproof new mine                                # RC WRITE, 64 bit
        roceproof new mine --width 512 --rc SEND,WRITE --uc WRITE
        roceproof new mine --width 8 --cm --backdoor      # it answers, connects, and has a memory
    """,
    "env": """
        roceproof env up       # start a receiver, and say where to plug in
        roceproof env status
        roceproof env down
    """,
    "env up": """
        roceproof env up
        roceproof env up --kernel 6.12
        roceproof env up --json
    """,
    "env down": """
        roceproof env down
        roceproof env down -q
    """,
    "env status": """
        roceproof env status
        roceproof env status --json
    """,
    "interop": """
        roceproof interop                      # every tool against the model and our RTL
        roceproof interop --peer model ibv_rc_pingpong ib_write
        roceproof interop --peer hdl --dut rtl/responder.toml --width 512 --kernel 6.12
    """,
    "kernels": """
        roceproof kernels                     # 6.1, 6.12 and the newest: build/kernels
        roceproof kernels 6.12 newest --seed 2
    """,
    "nic": """
        roceproof nic agent -o roceproof-agent
        roceproof nic doctor --interface ens2 --agent "ssh host roceproof-agent"
    """,
    "nic agent": """
        roceproof nic agent
        roceproof nic agent -o build/nic/roceproof-agent
    """,
    "nic doctor": """
        roceproof nic doctor --interface ens2 --agent "ssh host ./roceproof-agent"
        roceproof nic doctor --json --interface ens2 --agent "ssh host roceproof-agent"
    """,
    "nic merge": """
        roceproof nic merge results/a results/b
        roceproof nic merge --out build/nic results/a
    """,
    "nic diff": """
        roceproof nic diff results/a results/b
        roceproof nic diff --json results/a results/b
    """,
    "nic replay": """
        roceproof nic replay capture.pcapng --interface ens2 --agent "ssh host roceproof-agent"
        roceproof nic replay results/a --json --interface ens2 --agent "ssh host roceproof-agent"
    """,
    "nic rehearse": """
        roceproof nic rehearse                # Linux 6.1 and 6.12 as two cards: build/nic
        roceproof nic rehearse 6.12 newest -k psn
    """,
    "doctor": """
        roceproof doctor
        roceproof doctor --json
    """,
    "check": """
        roceproof check capture.pcapng
        roceproof check --annotate annotated.pcapng capture.pcapng  # for Wireshark
        tcpdump -w - -i eth0 | roceproof check --json -
    """,
    "coverage": """
        roceproof coverage show build/conformance/coverage.json
        roceproof coverage merge -o sum.json coverage.json
    """,
    "coverage show": """
        roceproof coverage show build/conformance/coverage.json
        roceproof coverage show -o coverage.html coverage.json
    """,
    "coverage merge": """
        roceproof coverage merge -o sum.json coverage.json
        roceproof coverage merge --output sum.json coverage.json build/conformance/coverage.json
    """,
    "coverage ucis": """
        roceproof coverage ucis -o coverage.xml coverage.json
        roceproof coverage ucis -o coverage.xml coverage.json build/conformance/coverage.json
    """,
    "rules": """
        roceproof rules PSN-02            # one rule in full
        roceproof rules PSN --role R      # what a responder must do about PSNs
        roceproof rules --coverage --json
    """,
    "explain": """
        roceproof explain capture.pcapng
        roceproof explain --qps qps.json capture.pcapng   # with what was configured
        zstdcat capture.pcapng.zst | roceproof explain --json -
    """,
    "wireshark": """
        roceproof wireshark install
        roceproof wireshark uninstall
    """,
    "wireshark install": """
        roceproof wireshark install
        roceproof wireshark install --directory wireshark --force
    """,
    "wireshark uninstall": """
        roceproof wireshark uninstall
        roceproof wireshark uninstall --directory wireshark
    """,
    "diff": """
        roceproof diff fpga.pcapng nic.pcapng
        roceproof diff --json fpga.pcapng nic.pcapng
        zcat fpga.pcapng.gz | roceproof diff - nic.pcapng
    """,
    "ladder": """
        roceproof ladder capture.pcapng                    # in the terminal
        roceproof ladder --frames 100-160 capture.pcapng
        roceproof ladder -o ladder.html capture.pcapng     # a page of its own
    """,
    "test": """
        roceproof test --dut rtl/dut.toml          # a device by its manifest
        roceproof test -k psn --per-rule           # a few cases, rule by rule
        roceproof test --target rxe --suite full   # Soft-RoCE
        roceproof test --target rxe --kernel newest
    """,
}
COMMANDS = tuple(name for name in _EXAMPLES if name and " " not in name)
"""Those right below `roceproof`."""


def examples(command: str) -> str:
    """The examples of a command as the end of its help; `command` is its path, such as `env up`."""
    lines = [line.strip() for line in _EXAMPLES[command].strip().splitlines()]
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
