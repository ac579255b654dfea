# SPDX-License-Identifier: BSD-2-Clause
"""`make docs` fails for what leads nowhere; CI builds the whole site."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from roceproof.common.paths import REPOSITORY

FLAWS = """
[a page](gone.md) [an anchor](#gone)

```{eval-rst}
.. autofunction:: roceproof.gone
```
"""


def build(tree: Path, page: str) -> subprocess.CompletedProcess[str]:
    configuration = tree / "ci" / "docs"
    shutil.copytree(REPOSITORY / "ci" / "docs", configuration, dirs_exist_ok=True)
    (configuration / "navigation.py").write_text(
        'FRONT = "README"\nCHAPTERS = {"All": ["docs/one"]}\n'
    )
    (tree / "docs").mkdir(exist_ok=True)
    (tree / "README.md").write_text("# Front\n\n[one](docs/one.md#at-the-end)\n")
    (tree / "docs" / "one.md").write_text(f"# One\n\n## At the end\n\n{page}\n")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "dummy"]
    return subprocess.run(
        [*command, "-c", str(configuration), str(tree), str(tree / "out")],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_sound_site_is_built_without_a_word(tmp_path: Path) -> None:
    done = build(tmp_path, "[there](https://example.org/page#part) [front](../README.md)")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_leads_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "stray.md").write_text("# In no chapter\n")
    done = build(tmp_path, FLAWS)
    assert done.returncode == 1
    for words in ("gone.md", "'gone'", "import 'gone'", "stray.md: WARNING: document isn't"):
        assert words in done.stderr


def test_an_address_of_another_site_has_to_be_one(tmp_path: Path) -> None:
    done = build(tmp_path, "[there](https://exa mple.org)")
    assert done.returncode != 0
    assert "docs/one.md: https://exa mple.org is no address" in done.stderr


def test_pictures_are_small_and_shown() -> None:
    pictures = {path.name: path.stat().st_size for path in REPOSITORY.glob("docs/pictures/*")}
    pages = [REPOSITORY / "README.md", *REPOSITORY.glob("docs/*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert sorted(name for name in pictures if f"pictures/{name})" not in text) == []
    assert max(pictures.values()) < 150_000
    assert sum(pictures.values()) < 1_000_000
