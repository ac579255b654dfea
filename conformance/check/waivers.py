# SPDX-License-Identifier: BSD-2-Clause
"""Waivers over the document of a check: groups that one covers are marked, and counted apart."""

from collections.abc import Collection

from roceproof.conformance.check.report import Document
from roceproof.conformance.rules.waivers import Waiver, matching


def apply_waivers(document: Document, waivers: Collection[Waiver]) -> None:
    """Mark what is waived; what is in no group is not."""
    for group in document["groups"]:
        flow, devices = None, []
        if group["flow"] is not None:
            row = document["flows"][group["flow"]]
            flow = (row["source"], row["destination"], row["qpn"])
            devices = [row["source"]]
        waiver = matching(waivers, group["rule"], flow=flow, devices=devices)
        if waiver is not None:
            waiver.used += group["count"]
            group["waived"] = waiver.words
            document["waived"][group["severity"]] += group["count"]
