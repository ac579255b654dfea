# SPDX-License-Identifier: BSD-2-Clause
"""A queue pair whose device answers requests: its memory, its receives, and signs of life."""

from collections import deque
from collections.abc import Collection
from itertools import combinations
from typing import Any

from roceproof.conformance.model.segmentation import AWAIT_DATA
from roceproof.conformance.suite.expect.acknowledgements import Acknowledgements
from roceproof.conformance.suite.limits.read_resources import ReadResources
from roceproof.conformance.suite.limits.within_limits import allowed_read_depth, executable_request
from roceproof.conformance.suite.memory import otherwise
from roceproof.conformance.suite.notation import Mismatch
from roceproof.conformance.suite.packet_flow import RECEIVE, SUCCESS, PacketFlow
from roceproof.conformance.suite.packets import Sendable, Wanted
from roceproof.conformance.suite.pattern import (
    ACK,
    READ_REQUEST,
    READ_RESP_ONLY,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.reporting.failure import AS_CONTRACTED, rules_of_receive
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Region

_SCRATCH_BYTES, _MARK_BYTES = 64, 8
_PAGE_BYTES, _ROOM = 4096, 4
_LAST = 32  # packets among which another message is looked for


class ResponderSide(PacketFlow):
    """The device as responder, the case as requester."""

    _scratch: Region | None = None
    _is_fencing = False
    chose_depth = False
    """Whether the case has said how many READs and atomics the device may have to hold."""

    def _settle(self, qp: Qp, *, thought_mtu: int | None = None) -> None:
        super()._settle(qp, thought_mtu=thought_mtu)
        self._acknowledgements = Acknowledgements(self.spec.rq_psn, self.mtu)
        self._sizes = deque[int](maxlen=_LAST)
        self._read_resources = ReadResources(self.spec.rq_psn, self.mtu)

    def take(self, packet: Packet) -> None:
        """Keep a packet of the device for `next`."""
        self._read_resources.came(packet)
        super().take(packet)

    def _note(self, packet: Packet) -> None:
        self._acknowledgements.came(packet)

    def _is_told_again(self, packet: Packet) -> bool:
        return self._acknowledgements.is_told_again(packet)

    def _may_come(self, packet: Packet) -> bool:
        return self._acknowledgements.may_come(packet)

    def _stands_for(self, packet: Packet, wanted: Wanted, later: Collection[Wanted]) -> bool:
        if not isinstance(wanted, Pattern):
            return False
        own = self._acknowledgements
        is_wanted_later = own.is_later(packet, wanted) and self._fits(packet, *later)
        return is_wanted_later or own.stands_for(packet, wanted)

    def _stop_at(self, kind: Kind, wanted: Wanted, *, fields: tuple[Mismatch, ...] = ()) -> Stop:
        if self._is_fencing:
            return Stop(Kind.NO_ANSWER, at=self, fields=fields)
        return super()._stop_at(kind, wanted, fields=fields)

    def region(
        self, size: int | None = None, *, access: frozenset[str] = FULL_ACCESS, filled: bool = False
    ) -> Region:
        """Memory of the device that this queue pair may reach: zeros, or random bytes.

        For some packets of any length, where nothing is said.
        """
        size = max(_PAGE_BYTES, _ROOM * self.mtu) if size is None else size
        region = self._exchange.target.register(size, access=access, domain=self.spec.domain)
        if filled:
            region.write(0, self.random.randbytes(size))
        return region

    def post_receive(
        self,
        region: Region,
        *,
        offset: int = 0,
        length: int | None = None,
        may_wait: bool = False,
        key_mask: int = 0,
    ) -> int:
        """Post one receive, which may wait for room; its work request's number.

        Bits of its key are turned where a simulated device shall find it unusable.
        """
        wr_id = self._exchange.next_wr_id()
        size = region.size - offset if length is None else length
        self._exchange.target.post_receive(
            self.qp,
            wr_id=wr_id,
            region=region,
            offset=offset,
            length=size,
            may_wait=may_wait,
            key_mask=key_mask,
        )
        return wr_id

    def receives(self, wr_id: int, **fields: Any) -> Outcome:
        """This receive completes next; fields of its outcome as said."""
        outcome = self._expect_outcome(wr_id, fields.pop("status", SUCCESS), what=RECEIVE)
        for name, want in fields.items():
            have = getattr(outcome, name)
            is_untold = name in ("src_qpn", "solicited") and have is None
            if have != want and not is_untold:
                text = f"a receive completed otherwise; {name}: want {want}, got {have}"
                is_of_others = name == "byte_len" and self._has_sent(have)
                own = self._exchange.rules or ()
                rules = rules_of_receive(
                    name,
                    want,
                    have,
                    own,
                    takes_key=fields.get("invalidated") is not None,
                    is_datagram=self.spec.service is Service.UD,
                )
                rules = [] if is_of_others and rules == [AS_CONTRACTED] else rules
                raise self._exchange.failed(text, rules=rules)
        return outcome

    def _has_sent(self, length: int | None) -> bool:
        """Whether some packets in a row had as many bytes: another message, or what lacks of it."""
        last = list(self._sizes)
        if length is not None and self.spec.service is Service.UD:
            length -= GRH_BYTES
        rows = combinations(range(len(last) + 1), 2)
        return any(sum(last[begin:end]) == length for begin, end in rows)

    def drops(self, *packets: Sendable, fence: int | None, msn: int | None = None) -> None:
        """The device drops these without a word, and lives: a good request behind them is served.

        `fence` is the PSN that the device must still expect; None where nothing is served any more.
        """
        for packet in packets:
            self._send(packet, comment="must be dropped", is_void=True)
        if fence is None:
            self.expect_silence()
        else:
            self.fence(fence, msn=msn)

    def fence(self, psn: int, *, msn: int | None = None) -> None:
        """A valid request at the PSN that the device must expect is served, and nothing else came.

        RC: an empty READ is answered, which no ACK of something else can be taken for. Where queue
        pair or device allow no READ, and on UC, a WRITE of eight bytes has to reach memory, which
        no duplicate does: one that comes behind what was taken for its PSN is acknowledged, too.
        """
        is_reliable = self.spec.service is Service.RC
        can_read = "remote_read" in self.spec.access and self.executes(Op.READ)
        if is_reliable and can_read:
            self._fence(READ_REQUEST(psn=psn, a=1), READ_RESP_ONLY(psn=psn, payload=0), msn)
            return
        if is_reliable and "remote_write" not in self.spec.access:
            self._fence(WRITE_ONLY(psn=psn, a=1), ACK(psn=psn), msn)
            return
        self._scratch = scratch = self._scratch or self.region(_SCRATCH_BYTES)
        before, mark = scratch.read(0, _MARK_BYTES), self.random.randbytes(_MARK_BYTES)
        write = WRITE_ONLY(psn=psn, va=scratch.addr, rkey=scratch.rkey, payload=mark)
        if is_reliable:
            self._fence(write.but(a=1), ACK(psn=psn), msn)
        else:
            self.send(write)
        lacks = "nothing came to memory" + is_reliable * ", though an ACK came, as of a duplicate"
        if not self._exchange.comes_true(lambda: scratch.read(0, _MARK_BYTES) == mark):
            other = otherwise(mark, scratch.read(0, _MARK_BYTES), before)
            raise self._exchange.failed(
                f"the fence, a good WRITE behind it all: {other or lacks}",
                rules=["RETH-12"] if other else (),
                stop=None if is_reliable else Stop(Kind.NO_ANSWER, at=self),
            )
        if not is_reliable:
            self.expect_silence()

    def _fence(self, request: Pattern, answer: Pattern, msn: int | None) -> None:
        self.send(request)
        self._is_fencing = True
        self.expect(answer if msn is None else answer.but(msn=msn))
        self._is_fencing = False

    def executes(self, operation: Op) -> bool:
        """Whether the device, as a responder, has the operation, for cases that do without."""
        if operation in AWAIT_DATA and self.spec.max_dest_rd_atomic == 0:
            return False
        return self._exchange.claims.does_execute(self.spec.service, operation)

    def _send_frame(self, frame: bytes, packet: Packet | None, **notes: Any) -> None:
        executable_request(self._exchange.claims, self.spec.service, packet)
        if packet is not None:
            self._sizes.append(len(packet.payload))
            if self.spec.service is Service.RC and not notes.get("is_void"):
                self._acknowledgements.sent(packet)
                if not self.chose_depth:
                    needed = self._read_resources.needed_for(packet)
                    allowed_read_depth(self._exchange.claims, needed)
        super()._send_frame(frame, packet, **notes)

    def read_back(self, region: Region, psn: int, offset: int, length: int) -> bytes:
        """Fetch memory over the wire with one READ that fits one packet; uses one PSN."""
        va = region.addr + offset
        self.send(READ_REQUEST(psn=psn, va=va, rkey=region.rkey, dmalen=length, a=1))
        packet = self.next()
        if packet is None or packet.bth.opcode != 0x10:
            raise self._exchange.failed(f"READ at {psn:+d} was not answered by READ_RESP_ONLY")
        return packet.payload
