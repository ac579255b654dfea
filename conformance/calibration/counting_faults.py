# SPDX-License-Identifier: BSD-2-Clause
"""Faults of PSN registers by the signature that they deserve, and what it takes to show them."""

from roceproof.conformance.calibration.plan import Needs
from roceproof.conformance.faults.psn import counting_faults as counts
from roceproof.conformance.faults.psn import recovery_faults as recovery
from roceproof.conformance.faults.psn.counting import Counting
from roceproof.conformance.wire.psn import PSN_MODULUS

COUNTING_FAULTS: dict[str, tuple[tuple[type[Counting], ...], Needs]] = {
    "P01": ((counts.OtherStart,), Needs(facts=True)),
    "P02": ((counts.IncrementedFirst, counts.DecrementedFirst), Needs(facts=True)),
    "P03": ((counts.PerMessage,), Needs(long=True)),
    "P04": ((counts.NarrowCounter,), Needs(wraps=1 << 16)),
    "P05": ((counts.WideCounter,), Needs(wraps=PSN_MODULUS)),
    "P06": ((counts.AckIn, counts.AckOut), Needs(acks=True, both_ways=True, reliable=True)),
    "P07": ((counts.PerBeat,), Needs()),
    "P08": ((counts.ReadsAsOne,), Needs(reads=True, long=True)),
    "P09": ((counts.OneForAll,), Needs(several=True)),
    "P10": ((counts.NeverReloaded,), Needs(facts=True, reconnect=True)),
    "P11": ((recovery.NewForCopies,), Needs(losses=True, long=True)),
    "P12": ((counts.EmptyTwice, counts.AbortedCounts), Needs(empty=True)),
    "P13": ((counts.EmptyNever,), Needs(empty=True)),
    "P14": ((counts.LateRegister,), Needs(bursts=True)),
    "P15": ((counts.SwappedBytes,), Needs()),
    "P16": ((counts.Stalled,), Needs(long=True)),
    "P17": ((recovery.OneTooLate, recovery.OneTooEarly), Needs(losses=True, long=True)),
    "P18": ((recovery.ReturnsInside, recovery.CopiesCounted), Needs(losses=True, long=True)),
    "P19": (
        (recovery.PlainCompare,),
        Needs(rare_acks=True, wraps=PSN_MODULUS, acks=True, reliable=True, healthy_peer=True),
    ),
    "P20": (
        (recovery.ExpectsNext,),
        Needs(facts=True, both_ways=True, reliable=True, healthy_peer=True),
    ),
    "P21": (
        (recovery.BelievesDamaged,),
        Needs(flips=True, both_ways=True, reliable=True, healthy_peer=True),
    ),
    "P22": (
        (recovery.ShortReads,),
        Needs(both_ways=True, reliable=True, reads=True, healthy_peer=True),
    ),
    "P23": ((counts.UnreliableRepeats, counts.UnreliableSkips), Needs(unreliable=True)),
    "P24": ((counts.WideStart,), Needs()),
    "P25": ((counts.PeerMoves,), Needs(both_ways=True, acks=True, reliable=True)),
}
"""By the signature that they deserve: the ways of going wrong, and what it takes to show."""
