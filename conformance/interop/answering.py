# SPDX-License-Identifier: BSD-2-Clause
"""Roles in which the server does more than to take what comes."""

from struct import Struct

from roceproof.conformance.interop.dialogues import Dialogue, End
from roceproof.conformance.interop.roles import Memory, Receiver, Role
from roceproof.conformance.targets.interface import Target
from roceproof.verbs.queue_pair import Qp
from roceproof.verbs.work import Op, Outcome, Region, Work


class WriteBack(Memory):
    """Of ib_write_lat: WRITEs in turn, the server's first, each known by its last byte, a count."""

    def prepare(self) -> Region:
        region = super().prepare()
        region.write(self.size - 1, b"\0")
        return region

    def established(self) -> None:
        self._write(1)

    def step(self) -> None:
        super().step()
        number = self.done + 1
        if self.region.read(self.size - 1, 1)[0] == number & 0xFF:
            self.done = number
            if number < self.count:
                self._write(number + 1)

    def _write(self, number: int) -> None:
        data = self.region.read(0, self.size - 1) + bytes([number & 0xFF])
        to, rkey = self.theirs.addr, self.theirs.rkey
        self.target.post(
            self.qp, Work(wr_id=number, op=Op.WRITE, data=data, remote_addr=to, rkey=rkey)
        )

    def lack(self) -> str:
        return Role.lack(self)


class Writer(Memory):
    """Of ib_write_bw -b: WRITEs as many messages as the client, of whose it takes no notice."""

    def established(self) -> None:
        data = self.region.read(0, self.size)
        to, rkey = self.theirs.addr, self.theirs.rkey
        for number in range(self.count):
            self.target.post(
                self.qp, Work(wr_id=number, op=Op.WRITE, data=data, remote_addr=to, rkey=rkey)
            )

    def completed(self, outcome: Outcome) -> None:
        self.done += 1

    def lack(self) -> str:
        return Role.lack(self)


class Opener(Receiver):
    """Of ucmatose: sends its messages first, takes the client's, and hangs up."""

    _sent = 0

    def established(self) -> None:
        for number in range(self.count):
            data = bytes([number]) * self.size
            self.target.post(self.qp, Work(wr_id=self.count + number, op=Op.SEND, data=data))

    def completed(self, outcome: Outcome) -> None:
        self._sent += 1

    @property
    def is_over(self) -> bool:
        return self.done == self._sent == self.count


class Rping(Receiver):
    """Of rping: READs what the client names, says so, WRITEs it where the client names, says so."""

    _INFO = Struct(">QII")
    _LONGEST = 1 << 16
    _SAY = 1 << 16  # added to the number of the work that is told of

    def prepare(self) -> Region:
        """Room for what is read, too."""
        self._data = self.target.register(self._LONGEST)
        return super().prepare()

    def received(self, outcome: Outcome) -> None:
        """A place is named, in turn to READ from and to WRITE to."""
        super().received(outcome)
        place = self.places()[outcome.wr_id]
        addr, rkey, length = self._INFO.unpack(self.region.read(place, self._INFO.size))
        if length > self._LONGEST:
            self.accuse(f"the client names {length} bytes, more than {self._LONGEST}")
            return
        number = self.count + outcome.wr_id
        if outcome.wr_id % 2 == 0:
            work = Work(
                wr_id=number,
                op=Op.READ,
                into=self._data,
                length=length,
                remote_addr=addr,
                rkey=rkey,
            )
        else:
            data = self._data.read(0, length)
            work = Work(wr_id=number, op=Op.WRITE, data=data, remote_addr=addr, rkey=rkey)
        self.target.post(self.qp, work)

    def completed(self, outcome: Outcome) -> None:
        """What was wanted is done: say so."""
        if outcome.wr_id < self._SAY:
            data = bytes(self._INFO.size)
            self.target.post(self.qp, Work(wr_id=outcome.wr_id + self._SAY, op=Op.SEND, data=data))


class Talk(Role):
    """A dialogue by SENDs, on a connection of its own."""

    _DEPTH = 4

    def __init__(self, target: Target, *, size: int, dialogue: Dialogue) -> None:
        super().__init__(target, size=size, count=0)
        self._dialogue = dialogue

    @property
    def room(self) -> int:
        return self._DEPTH * self.size

    def begin(self, qp: Qp, theirs: End) -> None:
        """Post some receives; each is posted again when its message has been heard."""
        super().begin(qp, theirs)
        for number in range(self._DEPTH):
            self._post(number)

    def received(self, outcome: Outcome) -> None:
        place = outcome.wr_id % self._DEPTH * self.size
        message = self.region.read(place, outcome.byte_len or 0)
        self._post(outcome.wr_id + self._DEPTH)
        answer = self._dialogue.hear(self.theirs.host, message)
        self.target.post(self.qp, Work(wr_id=outcome.wr_id, op=Op.SEND, data=answer))

    def _post(self, number: int) -> None:
        offset = number % self._DEPTH * self.size
        self.post_receive(number, offset=offset, length=self.size)
