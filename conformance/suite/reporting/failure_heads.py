# SPDX-License-Identifier: BSD-2-Clause
"""What is alike in the heads of failures: wrong fields, or the words without numbers."""

import re

from roceproof.conformance.suite.reporting.ends import NO_TIMER
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.dpi.contract.records import BREACH

WITHOUT_A_PAUSE = "with a pause between any two frames all of it is as it should be"
"""What a case has tried with and without."""
_DIGITS = re.compile(r"\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b|\b[0-9a-f]{8,}\b|0x[0-9a-f]+|\d+(\.\d+)*")
_WRONG_FIELD = re.compile(r"(?:^|[;,] )([a-z][a-z_ ]*): want ")
_TOLD = re.compile(r"[;,] ([a-z][a-z_ ]*): want (.+?), got ([^;]+?)(?=;|, [a-z_ ]+: |$)")
_DEATH, _PATH = "the device died: ", re.compile(r"/\S+")
_BREACH = re.compile(rf"{BREACH}: [^;\n]+")
COMPLAINT = "an assertion inside the device fails"
_ASSERTION = re.compile(r"Assertion failed in \S+: (?P<port>port \d+: )?(?P<says>[^;\n]+)")
_UNSETTLED = " did not converge"
STRAY_BYTES = "memory holds bytes of a packet that had to be dropped"
STRAY_ANSWER = "answered is a packet that had to be dropped"
STRAY_ACK = "an ACK that had to be dropped came"
HEEDED = (STRAY_BYTES, STRAY_ANSWER, STRAY_ACK)
"""What is said of packets that had to be dropped, with why."""
AS_ANOTHER = "as work ends of qp"
BEHIND_UNDUE = "packets that had to change nothing came before"
_OTHER_BYTES = re.compile(
    r"assert (?P<got>b['\"].*?) == (?P<want>b['\"].*?); At index (?P<at>\d+) diff: "
    r"(?P<one>b.+?) != (?P<other>b[^;]+)"
    r"|want other bytes from \d+ on in the region|left other bytes from"
    r"|: (?P<told>other bytes than are due.*)"
)
_BESIDE = re.compile(
    r"bytes were sent, and what lies \d+ behind their end was written"
    r"|beside what was addressed \d+ bytes differ"
    r"|memory of queue pair \S+ holds other bytes than are due"
)
"""Memory has other bytes, where a case says more of them."""
_COMPARED = re.compile(
    r"^\S+\.py:\d+: assert (?P<what>.+) (?:==|in) .+?; "
    r"assert (?P<got>.+?) (?:==|in) (?P<want>.+?)(; .*)?$"
)
"""A comparison in a case that says nothing of its own."""
_REPEATED = re.compile(r"(?<=\S); assert .*")
"""A comparison behind what its case says of it."""
_BYTES = re.compile(r"(?<=\S); want [0-9a-f]{48,}; got [0-9a-f]{48,}")
"""Whole frames behind what is wrong with one."""
_FIELD_OF_A_PACKET = re.compile(r"^\w+(?:\[\d+\])?\.(ip_length|udp_length|icrc)$")
"""What a case compares by itself that has the same name in a predicted packet."""
_LONG = re.compile(r"\d{6,}$")
_PLACE = re.compile(
    r"^\S+\.py:\d+: [^;]*; |\bqp\d+ (?=\()|; then: .*"
    r"|^(?:def test_found[^;]*; )?(?:play(?:\.\w+\([^;]*\)| = \w+\(bench\)); )+"
)
"""Where in a case, on which queue pair, in which storm or plan: not what was wrong."""
_COMPLETION = re.compile(
    r"want +(?:no such completion|work \S+(?: \(message \d+\))? completed with (?P<want>\w+)).*"
    r"got +work \S+ completed with (?P<got>\w+)"
)
_OTHER_WORK = re.compile(
    r"want +work (?P<want>\w+)(?: \(message \d+\))? completed with (?P<status>\w+)[^;]*; "
    r"got +work (?P<got>\w+) completed with (?P=status)\b(?!.*: \d+ posted before it )"
)
"""Of no work that was posted later, as far as that is told."""
_REMOTE = re.compile(r"^rem_\w+$")
_TOO_EARLY = re.compile(
    r"completion came too early|; owed: work .*; got +work \S+ completed"
    r"|completed with \w+(?:, syndrome \w+)?, which is message \d+, "
    r"(?:without an answer|before it has left)"
    r"|completed with success, and has no answer"
)
_OWED = re.compile(r"want a completion; got nothing in time; .*?(?P<stage>which [a-z_ ]+)")
_OTHERWISE = re.compile(
    r"want work \S+ completed with (?:rem|rnr|retry)_\w+; got nothing"
    r"|owed: work (?P<id>\w+) \([^)]*\) which ends with (?P<want>\w+).*"
    r"; got work (?P=id) completed with (?!(?P=want))"
)
"""Work that an answer has failed ends in no way, or in another than the answer said."""
_ENDS_AS = re.compile(
    r"owed: work (?P<id>\w+) \([^)]*\) which (?P<due>is flushed|ends with \w+); "
    r"got work (?P=id) completed with (?P<got>\w+)"
)
_ENDED = re.compile(r"with (rem_\w+|rnr_retry_exc_err|retry_exc_err)")
_RECEIVES = re.compile(r"want +receives completed: (?P<want>.*?); got +(?P<got>.*)")
_OTHER_RECEIVE = re.compile(
    r"want +receive (?P<want>\w+) done with success; got +receive (?P<got>(?!(?P=want)\b)\w+) done "
    r"with success"
)
RECEIVE = "receive"
STATUS = "status"
_OF_A_RECEIVE = (RECEIVE, STATUS, "byte_len", "immediate")
_WANT_GOT = re.compile(r"want +(?P<want>.*?); got +(?P<got>[^;]*)")
"""What is told behind that is where it was, and all that came."""
_SAID = re.compile(r"(\w+)=([^\s;]+)")
_NAME = re.compile(r"\b[A-Z][A-Z_]+[A-Z]\b(?: ONLY| FIRST| MIDDLE| LAST)?")
_OPCODE = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b")
_NOTHING, _NONE = "nothing", "none"
_MISSED = re.compile(r"want for frame .*?ACKNOWLEDGE psn=\S+ syndrome=(?P<syndrome>0x\w+)")
"""What an oracle says of an answer that did not come, if none came otherwise."""
_SURPLUS = re.compile(r"want +nothing(?: more)?; got +\w+ [^;]*?syndrome=(?P<syndrome>0x\w+)")
_RNR_BEFORE = re.compile(r"in all came .*?RNR psn=[^,]*,")
_ANSWER = re.compile(r"\b(?P<name>ACK|NAK|RNR) psn=(?P<psn>[+-]\d+)(?![|\d])")
_SYNDROME_NAMED = re.compile(r"syndrome: want (?P<want>\w+), got (?P<got>0x\w+)")
_SYNDROME = re.compile(
    r"syndrome(?:: want |=)(?P<want>\w+).*?(?:got |got .*syndrome=)(?P<got>0x\w+)"
)
_REFUSED = re.compile(r"got +NAK [^;]*?syndrome=(0x6[1-3])|syndrome: want \w+, got (0x6[1-3])")
_UNREFUSED = re.compile(r"want +NAK [^;]*?syndrome=(0x6\d)|syndrome: want (0x6\d), got")
REFUSAL, RNR = "a refusal", "an RNR NAK"
_UNDUE = {
    REFUSAL: re.compile(
        r"want +(?:ACK|READ_RESP\w*|ATOMIC\w*) [^;]*; got +NAK [^;]*syndrome=0x6[1-3]"
        r"|syndrome: want ACK, got 0x6[1-3]"
        r"|want receive \S+ done with success; got receive \S+ done with loc_"
    ),
    "a sequence NAK": re.compile(
        r"want +(?!NAK)\w+ [^;]*; got +NAK [^;]*syndrome=0x60|syndrome: want (?!0x60)\w+, got 0x60"
    ),
    RNR: re.compile(
        r"want +(?!RNR)\w+ [^;]*; got +RNR |syndrome: want (?!RNR|0x[23])\w+, got (?:RNR|0x[23])"
    ),
}
"""Answers that came where others were due, or none."""
_UNFLUSHED = re.compile(
    r"fewer receives than were due .*receives completed: ([^;]*; )*\w+ wr_flush_err[^;]*; got"
)
_AGAIN = re.compile(r"\b(receive|work) \S+ completed \d+ times, and may only once: (.*)")
_HEX = re.compile(r"0x[0-9a-f]+")
_KINDS = ("ACK", "RNR")
"""Syndromes of which any does."""

_NO_TIMER = re.compile(rf"(?:work \S+ completed|the queue pair ended) with [^;]+: {NO_TIMER}")
_ENDLESS = re.compile(r"[\d,]+ (?P<what>[A-Za-z ]+) came of the device in")
_UNHEARD = re.compile(r"no answer to an (?:ARP|echo) request")
_LINE = re.compile(r"\S+\.py:\d+: ")


def head_of(failure: CaseFailed) -> str:
    """A failure in one line, without the frames seen."""
    lines = str(failure).partition("\nframes seen:")[0].splitlines()
    parts = [words for line in lines if (words := " ".join(line.split()))][-4:]
    if parts and _LINE.match(parts[0]):  # a line of a program, which is one part all the same
        parts[0] = parts[0].replace(";", ",")
    return "; ".join(parts)


def likeness(head: str) -> str:
    """What is alike in heads of the same trouble: a death, the fields that are wrong, the words."""
    _, is_death, words = head.partition(_DEATH)
    if (is_death or COMPLAINT in head) and (died := of_death(words or head)):
        return _DIGITS.sub("#", died)
    if is_death:
        return _DEATH + _DIGITS.sub("#", _PATH.sub("", words))
    if fields := wrong_fields(head):
        return ", ".join(sorted(fields))
    if unheard := _UNHEARD.search(head):
        return unheard[0]
    if endless := _ENDLESS.search(head):
        return f"{endless['what']} without end"
    if _OTHER_BYTES.search(head) or _BESIDE.search(head):
        return "other bytes"
    if NO_TIMER in head:
        return NO_TIMER
    if owed := _OWED.search(head):
        return f"no completion of work {_ENDED.sub('with an error', owed['stage'])}"
    if _OTHERWISE.search(head):
        return "no completion of work which ends with an error"
    if (ended := _ENDS_AS.search(head)) and ended["due"] == "is flushed":
        return "work not flushed"
    if _TOO_EARLY.search(head):
        return "completed too early"
    if done := _COMPLETION.search(head):
        want, got = done["want"], done["got"]
        if want in (None, got):
            return f"other work completed{f' with {got}' if want is None else ''}"
        return f"{_REMOTE.sub('rem_err', want)}: {_REMOTE.sub('rem_err', got)}"
    if missed := _MISSED.search(head):
        return f"no {_answer(missed['syndrome'])}"
    if surplus := _SURPLUS.search(head):
        behind = " behind an RNR NAK" if _RNR_BEFORE.search(head) else ""
        return f"surplus {_answer(surplus['syndrome'])}{behind}"
    if _UNFLUSHED.search(head):
        return "receives not flushed"
    if again := _AGAIN.search(head):
        return f"{again[1]} completed again{' with an error' if 'err' in again[2] else ''}"
    if (both := _WANT_GOT.search(head)) and (names := _NAME.findall(both["want"])):
        if both["got"].startswith(_NOTHING):
            said = dict(_SAID.findall(both["want"])).get("syndrome", "")
            return f"no {_answer(said) if said.startswith('0x') else names[0]}"
        if got := _NAME.findall(both["got"]):
            if _is_left_out(head):
                return f"no {names[0]}"
            return f"want {names[0]}, got {got[0]}"
    return _DIGITS.sub("#", _OPCODE.sub("a packet", without_place(head)))


def wrong_fields(head: str) -> set[str]:
    """The fields that are said to be wrong, or that differ where the same packet was wanted."""
    clean = without_place(head)
    named = set(_WRONG_FIELD.findall(clean))
    if (compared := _COMPARED.search(head)) and (
        field := _FIELD_OF_A_PACKET.search(compared["what"])
    ):
        named.add(field[1])
    named = named or {name for name, _, _ in _differences(head)}
    told = _SYNDROME_NAMED.search(clean) or _SYNDROME.search(clean)
    if "syndrome" in named and told:
        named ^= {"syndrome", f"syndrome {_kind(told['want'])} {_kind(told['got'])}"}
    return named


def receive_ended_as(head: str) -> tuple[str, str] | None:
    """The status that was wanted of a receive and the one that came, where these differ first."""
    differ = _differences(head)
    return differ[0][1:] if differ and differ[0][0] == STATUS else None


def completed_again(head: str) -> str:
    """What completed more often than it may: receive, work, or nothing of the kind."""
    again = _AGAIN.search(head)
    return again[1] if again else ""


def harms_memory(head: str) -> bool:
    """Whether a failure tells that memory holds other bytes, and no more."""
    return bool(_OTHER_BYTES.search(head)) or "memory holds what it may not" in head


def refused_with(head: str) -> str:
    """The fatal NAK that came where something else was due, or the NAK that did not come."""
    if found := _REFUSED.search(head):
        return f"got {found[1] or found[2]}"
    found = _UNREFUSED.search(head)
    return f"no {found[1] or found[2]}" if found else ""


def undue(head: str) -> str:
    """What was answered where success, another answer or none was due; empty if that was not it."""
    return next((what for what, like in _UNDUE.items() if like.search(head)), "")


def answer_named(syndrome: str) -> str:
    """What answers with such a syndrome are called; empty for what is no number."""
    value = int(syndrome, 16) if _HEX.fullmatch(syndrome) else None
    return "" if value is None else {0: "ACK", 1: "RNR", 3: "NAK"}.get(value >> 5, "")


def _answer(syndrome: str) -> str:
    """What an acknowledge packet is called."""
    kind = _kind(syndrome)
    return f"NAK {kind}" if kind == syndrome else kind


def _kind(syndrome: str) -> str:
    """What it says, whatever its credits or timer."""
    value = int(syndrome, 16) if _HEX.fullmatch(syndrome) else None
    if value is None or value >> 5 not in (0, 1):
        return syndrome
    return _KINDS[value >> 5]


def in_short(head: str) -> str:
    """What was wrong: the fields that differ, where two packets are told, or else the head."""
    if died := of_death(head):
        return died
    for says in HEEDED:
        if says in head:
            return head[head.index(says) :]
    if (other := _OTHER_BYTES.search(head)) and other["told"]:
        return str(other["told"])
    if other and other["got"]:
        if other["want"] == other["got"]:  # as far as they are shown
            where = f"from byte {other['at']} on: want {other['other']}, got {other['one']}"
            return f"other bytes than are due {where}"
        return f"other bytes than are due: want {other['want']}, got {other['got']}"
    if compared := _COMPARED.search(head):
        want, got = (hex(int(n)) if _LONG.match(n) else n for n in compared.group("want", "got"))
        return f"{compared['what']}: want {want}, got {got}"
    if late := _NO_TIMER.search(head):
        return late[0]
    if ended := _ENDS_AS.search(head):
        return f"work that {ended['due']} completed with {ended['got']}"
    if (done := _OTHER_WORK.search(head)) and done["want"] != done["got"]:
        return f"wr_id of a completion: want {done['want']}, got {done['got']}; look at cpl_o"
    clean = _BYTES.sub("", _REPEATED.sub("", without_place(head)))
    wrong = _TOLD.findall(clean) or _differences(head)
    both = _WANT_GOT.search(head)
    names = _NAME.findall(both["got"]) if both else []
    if wrong and wrong[0][0] == RECEIVE:
        return other_receive(*(int(number, 0) for number in wrong[0][1:]))
    if not wrong or not (names or _RECEIVES.search(head)):
        return clean
    what = f"{names[0]} came" if names else "a receive completed"
    if both and "opcode" in {field for field, _, _ in wrong}:
        return f"{both['got']} came where {both['want']} was due"
    fields = "; ".join(f"{field}: want {want}, got {got}" for field, want, got in wrong)
    if both and names and (due := _NAME.findall(both["want"])) and names[0] not in due:
        return f"{what} where {due[0]} was due; {fields}"
    return f"{what} otherwise; {fields}"


def _is_left_out(head: str) -> bool:
    """Whether the answer to a later packet came, and not the one to this."""
    both = _WANT_GOT.search(head)
    if both is None:
        return False
    wanted, got = (list(_ANSWER.finditer(both[side])) for side in ("want", "got"))
    if not wanted or not got or any(each["name"] != "ACK" for each in wanted):
        return False
    return all(int(got[0]["psn"]) > int(each["psn"]) for each in wanted)


def other_receive(want: int, got: int) -> str:
    """Of a receive that is used out of its turn."""
    due = "another receive completed than was next in its queue"
    return f"{due}; {RECEIVE}: want {want:#x}, got {got:#x}"


def _differences(head: str) -> list[tuple[str, str, str]]:
    """What was wanted and what came, of each field that differs from the likest packet wanted."""
    if receives := _RECEIVES.search(head):
        pairs = zip(*(receives[side].split("; ") for side in ("want", "got")), strict=False)
        for pair in pairs:
            if _NONE in pair:
                return []
            told = zip(_OF_A_RECEIVE, *(each.split() for each in pair), strict=False)
            if wrong := [(field, want, got) for field, want, got in told if want != got]:
                return wrong[:1] if wrong[0][0] in (RECEIVE, STATUS) else wrong
        return []
    if other := _OTHER_RECEIVE.search(head):
        return [(RECEIVE, other["want"], other["got"])]
    both = _WANT_GOT.search(head)
    if both is None:
        return []
    came, names = dict(_SAID.findall(both["got"])), set(_NAME.findall(both["got"]))
    found = []
    for packet in both["want"].split(" or "):
        if names.isdisjoint(_NAME.findall(packet)):
            continue
        said = {name: want for name, want in _SAID.findall(packet) if want not in _KINDS}
        differ = [name for name in said.keys() & came.keys() if said[name] != came[name]]
        found.append([(name, said[name], came[name]) for name in sorted(differ)])
    return min(found, key=len, default=[])


def of_death(words: str) -> str | None:
    """What a simulation ended with: an assertion, or a loop that the simulator has given up on."""
    if _UNSETTLED in words:
        return "a combinational loop of the device does not settle"
    if said := _BREACH.search(words):
        return said[0]
    found = _ASSERTION.search(words)
    if found is None:
        return None
    what = "the simulation ends"
    if found["port"]:
        what = BREACH
    elif COMPLAINT in words:
        what = COMPLAINT
    return f"{what}: {found['says']}"


def name_of_wanted(head: str) -> str:
    """The packet that a failure speaks of, if it does."""
    both = _WANT_GOT.search(head)
    return next(iter(_NAME.findall(both["want"])), "") if both else ""


def without_place(head: str) -> str:
    """What was wrong, without where and when."""
    return _PLACE.sub("", head)
