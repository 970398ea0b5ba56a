"""The rows of docs/papers.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from veil_papers.numbered import Item, items_in
from veil_papers.references import REFERENCES

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "papers.md"
# Where a beginner finds a name: these list what they offer.
PUBLIC = (
    "veil",
    *(f"veil.{kind}" for kind in ["vectors", "matrices", "chains", "words", "bits", "graphs", "bits.learn"]),
)
_PLACE = re.compile(r"`(veil(?:_papers)?(?:\.\w+)*):([\w.]+)`")
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
_ONLY = re.compile(r"\(papers only: (.+)\)$")


@dataclass(frozen=True)
class Row:
    """paper: its name on the command line. only: why there is no public name. tests: files and functions."""

    paper: str
    item: str
    where: str
    test: str
    state: str

    @property
    def items(self) -> set[Item]:
        return items_in(self.item)

    @property
    def places(self) -> list[tuple[str, str]]:
        """Modules and names in them, in the order of the row."""
        return _PLACE.findall(self.where)

    @property
    def public(self) -> list[str]:
        """The public names, without what follows a dot."""
        return [name.partition(".")[0] for module, name in self.places if is_public(module, name)]

    @property
    def only(self) -> str:
        found = _ONLY.search(self.where)
        return found[1] if found else ""

    @property
    def tests(self) -> list[tuple[str, str]]:
        return _TEST.findall(self.test)

    def __str__(self) -> str:
        return f"{self.paper}: {self.item}"


def is_public(module: str, name: str) -> bool:
    return module in PUBLIC and name.partition(".")[0] in import_module(module).__all__


@cache
def rows() -> list[Row]:
    """All of them, in the order of the page."""
    names = {reference.heading: reference.name for reference in REFERENCES}
    found, paper = [], ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = names[line.removeprefix("## ")]
        elif line.startswith("| ") and not line.startswith("| item"):
            cells = [
                cell.replace("¦", r"\|").strip() for cell in line.replace(r"\|", "¦").strip("|").split("|")
            ]
            assert len(cells) == 4, line
            found.append(Row(paper, *cells))
    return found
