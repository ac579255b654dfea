# SPDX-License-Identifier: BSD-2-Clause
"""The first snippet of docs/crafting.md does what the text says."""

from __future__ import annotations

import re
from typing import Any

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.wire import icrc

SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_snippet_runs_and_only_the_refreshed_frame_is_right() -> None:
    snippet, _ = SNIPPET.findall((REPOSITORY / "docs" / "crafting.md").read_text())
    names: dict[str, Any] = {}
    exec(snippet, names)
    assert icrc.check(names["frame"]).judgement is icrc.Judgement.OK
    assert icrc.check(names["good"]).judgement is icrc.Judgement.OK
    assert icrc.check(names["bad"]).judgement is not icrc.Judgement.OK
