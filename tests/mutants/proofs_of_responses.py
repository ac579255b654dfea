# SPDX-License-Identifier: BSD-2-Clause
"""What shows faults of the receive side: fields of responses, pending messages, timers."""

from __future__ import annotations

from collections.abc import Callable

from endpoint_bench import qp
from mutant_device import Device
from proofs import proves, work
from response_stimuli import patched, with_msn

from roceproof.conformance.wire.codec import build
from roceproof.dpi import Flow
from roceproof.dpi.contract.records import Operation, QpConfig

SEND = Operation.SEND


def sent(device: Device, config: QpConfig, messages: int = 1) -> None:
    """Send messages that nobody answers yet."""
    for _ in range(messages):
        work(device, config, SEND, 4)
    device.run(128 * messages, answering=False)


@proves(
    "value-credit-code-15",
    "value-ack-from-low-port",
    "value-ack-marked-ce",
    "value-ack-of-ttl-1",
    "value-ack-psn-zero",
    "value-msn-negative",
    "value-response-distance-of-20-bits",
    "identity-peer-in-slash-24",
    "identity-peer-without-net",
    "identity-own-address-without-net",
    "identity-mac-of-5-bytes",
    "identity-mac-without-vendor",
    "identity-response-qpn-of-16-bits",
    "residue-frame-of-whole-beats",
    "cross-bad-icrc-before-tail",
    "cross-good-icrc-before-tail",
)
def bent_responses(device: Device) -> None:
    """One ACK in many forms, each followed by the right one."""
    bends: list[Callable[[bytes], bytes]] = [
        bytes,
        lambda ack: patched(ack, p54=0x0F),
        lambda ack: patched(ack, p34=0x10),
        lambda ack: patched(ack, p15=0x03),
        lambda ack: patched(ack, p22=1),
        lambda ack: patched(ack, p51=ack[51] + 0x10),
        lambda ack: patched(ack, p29=99),
        lambda ack: patched(ack, p26=10, p27=9),
        lambda ack: patched(ack, p30=10),
        lambda ack: ack[:5] + bytes((ack[5] ^ 0x40,)) + ack[6:],
        lambda ack: bytes.fromhex("06aabb") + ack[3:],
        lambda ack: patched(ack, p47=0x01),
        lambda ack: ack + bytes(2),
        lambda ack: ack[:-1] + bytes((ack[-1] ^ 0x80,)) + bytes(80),
        lambda ack: ack + bytes(80),
        lambda ack: patched(ack, p55=0x80),
    ]
    config = qp(0, sq_psn=0)
    device.activate(config)
    for psn, bend in enumerate(bends):
        sent(device, config)
        ack = device.peer.response(config, psn)
        device.receive(bend(ack), ack)


@proves("value-rnr-code-31", "value-timeout-keeps-syndrome", "moment-flush-loses-its-reason")
def refusals(device: Device) -> None:
    """NAKs that also complete what came before, and a timeout behind them."""
    first, second, third = qp(0), qp(1), qp(2, ack_timeout=1)
    device.activate(first, second, third)
    for config, syndrome in ((first, 0x62), (second, 0x3F)):
        sent(device, config, 3)
        device.receive(device.peer.packet(config, config.sq_psn + 1, syndrome=syndrome))
    sent(device, third)
    device.wait(30)


@proves("residue-ack-end-carry")
def ack_at_a_carry(device: Device) -> None:
    """An ACK of the message in the middle, where the PSN carries."""
    config = qp(0, sq_psn=0x00FFFE)
    device.activate(config)
    sent(device, config, 3)
    device.receive(device.peer.packet(config, 0x00FFFF), device.peer.packet(config, 0x010000))


@proves(
    "depth-ring-index",
    "depth-eight-per-ack",
    "depth-full-ring-is-empty",
    "depth-fifteen-of-sixteen",
    "identity-contexts-from-12",
)
def rings(device: Device) -> None:
    """Pending messages that come and go by fives, by twelves and by sixteens."""
    config = qp(12)
    device.activate(config)
    psn = config.sq_psn
    for posted, acknowledged in ((7, 5), (7, 5), (7, 5), (6, 12), (16, 16)):
        sent(device, config, posted)
        psn += acknowledged
        device.receive(device.peer.packet(config, psn - 1))
        device.mark("acknowledged")


@proves("crosstalk-pending-bit-2", "crosstalk-ack-of-other-direction")
def two_rings(device: Device) -> None:
    """Contexts that differ in one bit, and a PSN that is another's next."""
    configs = [qp(0, sq_psn=101), qp(4, sq_psn=98)]
    device.activate(*configs)
    for config in configs:
        sent(device, config, 3)
    for config in configs:
        device.receive(device.peer.packet(config, config.sq_psn + 2))
    sent(device, configs[0])
    sent(device, configs[1], 3)
    device.receive(device.peer.packet(configs[0], 104))


@proves("identity-context-by-response-bit-4")
def another_qpn(device: Device) -> None:
    """A QPN with bits above the context's."""
    config = qp(0, local_qpn=0x110)
    device.activate(config)
    sent(device, config)
    device.receive(device.peer.packet(config, config.sq_psn))


@proves(
    "value-timeout-code-5",
    "value-timeout-of-16-bits",
    "value-timeout-code-of-4-bits",
    "identity-context-15-unscanned",
    "crosstalk-timeout-of-latest",
)
def timeouts_by_code(device: Device) -> None:
    """Missing ACKs under several timeout codes at once."""
    short, middle, long = qp(15, ack_timeout=1), qp(1, ack_timeout=5), qp(2, ack_timeout=17)
    for config in (short, middle, long):
        device.activate(config)
        sent(device, config)
    device.wait(40)
    device.mark("the short one is over")
    device.wait(160)
    device.mark("the middle one is over")


@proves("crosstalk-timer-of-latest")
def timer_beside_traffic(device: Device) -> None:
    """A missing ACK while another queue pair gets all of its own."""
    waiting, busy = qp(0, ack_timeout=2), qp(1, ack_timeout=3)
    device.activate(waiting, busy)
    sent(device, waiting)
    for number in range(12):
        sent(device, busy)
        device.receive(device.peer.packet(busy, busy.sq_psn + number))
    device.mark("the timeout is over")


@proves("width-512-clock", width=512)
def half_a_timeout(device: Device) -> None:
    """More than half of a timeout, and less than all of it."""
    config = qp(0, ack_timeout=4)
    device.activate(config)
    sent(device, config)
    device.wait(50)
    device.mark("not yet")


@proves("life-clock-of-10-bits")
def late_timer(device: Device) -> None:
    """A timer that is started four milliseconds after reset."""
    config = qp(0, ack_timeout=9)
    device.activate(config)
    device.simulation.run(cycles=560_000)
    sent(device, config)
    device.simulation.run(cycles=140_000)
    device.mark("not yet")
    device.run(128)
    device.mark("not yet")


@proves("moment-damage-behind-a-gap")
@proves(
    "moment-good-behind-damaged",
    "moment-verdict-of-frame-before",
    "width-512-beats-side-by-side",
    width=512,
)
def pairs_of_frames(device: Device) -> None:
    """Good, bad and damaged ACKs right behind each other, without gaps and with them."""
    configs = [qp(0), qp(1)]
    device.activate(*configs)
    psn = 0
    for gap in (0, 0, 50, 50, 50):
        device.port.flow(Flow(rx_gap=gap))
        for spoil in range(4):
            for config in configs:
                sent(device, config)
            first, second = (device.peer.response(each, each.sq_psn + psn) for each in configs)
            bad = first[:-1] + bytes((first[-1] ^ 0x80,))
            device.port.inject(bad if spoil & 1 else first, discard=spoil == 2)
            device.port.inject(second)
            device.run(256, answering=False)
            device.mark("the second is answered")
            device.receive(first)
            psn += 1
            if spoil == 3:
                for config in configs:
                    sent(device, config)
                for config in configs:
                    frame = device.peer.response(config, config.sq_psn + psn)
                    device.port.inject(frame, discard=config is configs[0])
                device.run(256, answering=False)
                device.mark("one was damaged")
                device.receive(device.peer.response(configs[0], configs[0].sq_psn + psn))
                psn += 1


@proves("life-ack-1024")
def many_responses(device: Device) -> None:
    """The 1024th response is the one that counts."""
    config = qp(0)
    device.activate(config)
    sent(device, config)
    stale = device.peer.response(config, config.sq_psn - 1)
    for _ in range(1023):
        device.port.inject(stale)
    device.receive(build(with_msn(device.peer.packet(config, config.sq_psn), 1)))
    device.run(10_000, answering=False)
    device.mark("answered")
