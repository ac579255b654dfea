# SPDX-License-Identifier: BSD-2-Clause
"""A copy of a capture in which Wireshark shows each finding as a comment on its packet."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import CaptureError, Record, read
from roceproof.conformance.check.report import Document, message_of


def annotate(source: str, target: Path, document: Document) -> None:
    """Write every whole packet of the source with its findings; comments it has are kept."""
    write_pcapng(target, _annotated(source, document), comment=f"roceproof check of {source}")


def _annotated(source: str, document: Document) -> Iterator[Record]:
    remarks: dict[int, list[str]] = defaultdict(list)
    for row in document["findings"]:
        _, _, told = message_of(row).partition(": ")
        remarks[row["frame"]].append(f"roceproof: {row['rule']} {row['severity']}: {told}")
    try:
        for record in read(source):
            lines = remarks.get(record.number, [])
            comments = [record.comment] if record.comment else []
            yield record._replace(comment="\n".join(comments + lines)) if lines else record
    except CaptureError:
        # What is damaged has been reported by the check; the copy ends with the last whole packet.
        if document["error"] is None:
            raise
