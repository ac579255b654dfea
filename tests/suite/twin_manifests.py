# SPDX-License-Identifier: BSD-2-Clause
"""Manifests of devices that can do less than the endpoint, each with the hardware that proves it.

`limited_endpoint` ends the simulation when it is asked for what its parameters do not let it do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from roceproof.common.paths import REFERENCE_DUT
from roceproof.dpi import load_manifest

_HEAD = """\
schema = 2
name = "{name}"
top = "limited_endpoint"
sources = {sources}
clock_ps = 6400
data_widths = [64]
warnings = ["COMBDLY", "LATCH", "MULTIDRIVEN", "UNOPTFLAT"]
[parameters]
{parameters}
"""
_ALL = '["SEND", "SEND_IMM", "WRITE", "WRITE_IMM"]'
_CLAIMS = f"[capabilities]\nRC = {_ALL}\nUC = {_ALL}\n[limits]\nqps = 16\n"
_REPEATS = _CLAIMS.replace("[limits]", "retransmission = true\n[limits]")
_ONE = _CLAIMS.replace("16", "1")


@dataclass(frozen=True)
class Twin:
    """What it is made of, what its manifest says, and why cases are skipped for that.

    A change is made in a source of the endpoint: its file, what stands there, and what instead.
    """

    parameters: str
    says: str
    reasons: tuple[str, ...] = ()
    change: tuple[str, str, str] | None = None


ONE_QUEUE_PAIR = "has no more queue pairs than 1"
TWINS = {
    "whole-words": Twin(
        "LengthMultiple = 4", _CLAIMS + "length_multiple = 4\n", ("lengths are multiples of 4",)
    ),
    "one-path-mtu": Twin('OneMtu = "1\'b1"', _CLAIMS + "path_mtus = [1024]\n"),
    "fixed-headers": Twin(
        'FixedHeaders = "1\'b1"',
        _ONE + "[fixed]\ntraffic_class = 0\nhop_limit = 64\nlocal_qpn = 17\n",
        (ONE_QUEUE_PAIR,),
    ),
    "one-queue-pair": Twin('OneQueuePair = "1\'b1"', _ONE, (ONE_QUEUE_PAIR,)),
    "rc-only": Twin(
        'OnlyRc = "1\'b1"',
        f"[capabilities]\nRC = {_ALL}\n[limits]\nqps = 16\n",
        ("does not serve unreliable connections",),
    ),
    "write-only": Twin(
        'OnlyWrite = "1\'b1"',
        '[capabilities]\nRC = ["WRITE"]\nUC = ["WRITE"]\n[limits]\nqps = 16\n',
        ("does not send SEND", "does not send RDMA WRITE with immediate"),
    ),
    "resolves": Twin('Resolves = "1\'b1"', _CLAIMS + "[environment]\nresolves_addresses = true\n"),
    "four-outstanding": Twin(
        "Outstanding = 4", _CLAIMS + "outstanding_messages = 4\n", ("at most 4 messages",)
    ),
    "four-in-all": Twin(
        'Outstanding = 4\nShared = "1\'b1"',
        _CLAIMS + "outstanding_messages = 4\noutstanding_shared = true\n",
        ("at most 4 messages outstanding in all",),
    ),
    "slow-to-configure": Twin("ConfigCycles = 5000", _CLAIMS),
    "never-flushes": Twin('NeverFlushes = "1\'b1"', _CLAIMS + "flushes = false\n"),
    "one-key": Twin(
        'OneKey = "1\'b1"', _CLAIMS + 'per_queue_pair = ["rkey"]\n[fixed]\nmax_rd_atomic = 1\n'
    ),
    "constant-identification": Twin(
        "",
        _CLAIMS + 'identification = "constant"\n',
        change=("tx_segmenter.sv", "position_q.ip_id + 16'd1", "position_q.ip_id"),
    ),
    "identification-of-the-psn": Twin(
        "",
        _CLAIMS + 'identification = "any"\n',
        change=("tx_segmenter.sv", "= position_q.ip_id;", "= position_q.psn[15:0];"),
    ),
    "no-ack-timer": Twin(
        "",
        _CLAIMS + "[fixed]\nack_timeout = 0\n",
        change=("ack_tracker.sv", "peer.timeout != '0", "1'b0"),
    ),
    "slow": Twin(
        "Slow = 20",
        _CLAIMS + "answer_cycles = 400000\nquiet_cycles = 40000\nprogress_cycles = 400000\n",
    ),
    "small-and-slow": Twin(
        'LengthMultiple = 4\nOutstanding = 4\nFixedHeaders = "1\'b1"\nOneMtu = "1\'b1"\n'
        'OneQueuePair = "1\'b1"\nSlow = 20',
        _ONE
        + "path_mtus = [1024]\nlength_multiple = 4\noutstanding_messages = 4\n"
        + "answer_cycles = 400000\nquiet_cycles = 40000\n"
        + "[fixed]\ntraffic_class = 0\nhop_limit = 64\nlocal_qpn = 17\n",
        ("lengths are multiples of 4", ONE_QUEUE_PAIR, "at most 4 messages"),
    ),
}
"""Those in hardware."""
UNBUILT = {
    "uc-only": Twin("", f"[capabilities]\nUC = {_ALL}\n[limits]\nqps = 16\n"),
    "always-solicited": Twin("", _CLAIMS + "[fixed]\nsolicited = true\n"),
    "two-in-all": Twin(
        "", _CLAIMS + "outstanding_messages = 2\noutstanding_shared = true\n", ("2 messages",)
    ),
    "never-empty": Twin("", _CLAIMS + "length = [1, 4096]\n"),
    "one-region": Twin("", _CLAIMS + 'per_queue_pair = ["rkey", "remote_addr"]\n'),
    "few-choices": Twin(
        "", _CLAIMS + "[fixed]\npayload_offset = 0\nimmediate = 7\nmax_rd_atomic = 1\nqkey = 5\n"
    ),
    "repeats-and-never-flushes": Twin("", _REPEATS + "flushes = false\n"),
    "four-that-repeats": Twin("", _REPEATS + "outstanding_messages = 4\n"),
    "one-timeout": Twin("", _REPEATS + "[fixed]\nack_timeout = 10\n"),
    "light": Twin(
        "",
        _ONE
        + 'per_queue_pair = ["rkey", "remote_addr"]\nidentification = "any"\npath_mtus = [1024]\n'
        + "[fixed]\nack_timeout = 0\npayload_offset = 0\nmax_rd_atomic = 1\nsolicited = false\n",
    ),
}
"""Those that only the model plays."""


def manifest_of(name: str, folder: Path, *, without: str = "") -> Path:
    """The manifest of a twin, with all but one line of what it says."""
    shim = Path(__file__).parent / "twin" / "limited_endpoint.sv"
    twin = (TWINS | UNBUILT)[name]
    paths = (*load_manifest(REFERENCE_DUT).sources, shim)
    sources = [str(_changed(path, twin, folder)) for path in paths]
    head = _HEAD.format(name=name, sources=sources, parameters=twin.parameters)
    assert not without or without in twin.says
    manifest = folder / "dut.toml"
    manifest.write_text(head + (twin.says.replace(without, "") if without else twin.says))
    return manifest


def _changed(source: Path, twin: Twin, folder: Path) -> Path:
    if twin.change is None or source.name != twin.change[0]:
        return source
    _, old, new = twin.change
    text = source.read_text()
    assert old in text
    made = folder / source.name
    made.write_text(text.replace(old, new))
    return made
