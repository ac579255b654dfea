# SPDX-License-Identifier: BSD-2-Clause
"""Functional coverage in UCIS's exchange format (XML), which other coverage tools read.

A group is a covergroup, a point a coverpoint, and a bin a bin, whatever it crosses. Bins that a
device cannot fill are not in it.
"""

import io
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.common.whole_file import whole_file
from roceproof.conformance.coverage.summary import Summary

_DATE = "20000101000000"  # the same coverage gives the same file, but for the day of writing


class UcisMissing(RoceproofError):
    """The library is not installed."""


def write_ucis(summary: Summary, path: Path) -> None:
    try:
        import ucis
        from ucis.mem.mem_factory import MemFactory
        from ucis.source_info import SourceInfo
        from ucis.test_data import TestData
        from ucis.xml.xml_writer import XmlWriter
    except ImportError as error:
        raise UcisMissing(
            f"UCIS is written by pyucis, which is not here ({error}); "
            "install it: pip install 'roceproof[ucis]'"
        ) from error
    database = MemFactory.create()
    test = database.createHistoryNode(
        None, summary.title, "coverage.json", ucis.UCIS_HISTORYNODE_TEST
    )
    test.setTestData(
        TestData(teststatus=ucis.UCIS_TESTSTATUS_OK, toolcategory="roceproof", date=_DATE)
    )
    source = SourceInfo(database.createFileHandle("table.toml", ""), 1, 0)
    device = summary.coverage.device
    unit = database.createScope(
        f"roceproof.{device}",
        source,
        1,
        ucis.UCIS_OTHER,
        ucis.UCIS_DU_MODULE,
        ucis.UCIS_INST_ONCE | ucis.UCIS_SCOPE_UNDER_DU,
    )
    instance = database.createInstance(
        device, None, 1, ucis.UCIS_OTHER, ucis.UCIS_INSTANCE, unit, ucis.UCIS_INST_ONCE
    )
    for group, standings in summary.groups().items():
        kind = instance.createCovergroup(group, source, 1, ucis.UCIS_OTHER)
        covered = kind.createCoverInstance(group, source, 1, ucis.UCIS_OTHER)
        for standing in standings:
            point = covered.createCoverpoint(standing.point.id, source, 1, ucis.UCIS_OTHER)
            for name, hits in standing.hits.items():
                point.createBin(name, source, 1, hits, name)
    text = io.StringIO()
    XmlWriter().write(text, database)
    with whole_file(path) as part:
        part.write_text(text.getvalue(), encoding="utf-8")
