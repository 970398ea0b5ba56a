"""What the docs show is run: doctests, and every page from top to bottom: its Python and its commands."""

from __future__ import annotations

import doctest
import os
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import veil

from .pages import has_shell

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(veil.__path__, "veil.") if module.name != "veil.__main__"
)
KINDS = ("vectors", "matrices", "chains", "words", "bits", "graphs")
FOLDERS: dict[str, list[str]] = {}
for _name in MODULES:
    FOLDERS.setdefault(_name.split(".")[1], []).append(_name)
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
# tests/papers/test_errata.py runs the counterexamples of the errata; the commands of the reference are about
# files of the reader's own, and their options are held to the requests by tests/core/test_requests.py.
_ELSEWHERE = ("docs/errata.md", "docs/reference/cli.md")
RUN = [
    page
    for page in PAGES
    if str(page.relative_to(ROOT)) not in _ELSEWHERE
    and (_BLOCK.search(page.read_text(encoding="utf-8")) or has_shell(page))
]


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings(folder: str) -> None:
    """The examples in the docstrings of a folder."""
    run = {name: doctest.testmod(import_module(name)) for name in FOLDERS[folder]}
    assert {name: found.failed for name, found in run.items() if found.failed} == {}
    if folder in KINDS:
        assert sum(found.attempted for found in run.values()) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    """Python, commands of the shell, and what these print, in an empty folder."""
    found = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.pages", str(page)], env=found,
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_exist(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_has_examples() -> None:
    assert {README, ROOT / "docs" / "ledger.md"} < set(RUN)
