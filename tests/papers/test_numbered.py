"""The index of the papers' numbered items, against their texts where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from veil_papers import numbered
from veil_papers.numbered import NUMBERED, differences, index, items_in, items_of_text
from veil_papers.references import REFERENCES

# The texts are not part of Veil.
TEXTS = Path(__file__).parents[3] / "shared" / "papers"
TEXT = """\
**Definition 1.** One. $$x = 1 \\tag{1}$$
THEOREM 1. (Two). Definition 2 follows, as in [3, Theorem 4.2]. $$y = 2, \\quad (2)$$
Figure 1: A picture. See (4).
"""


def test_the_papers_are_all_there() -> None:
    assert list(NUMBERED) == [reference.name for reference in REFERENCES]
    assert sum(len(index(paper)) for paper in NUMBERED) > 250


@pytest.mark.parametrize("paper", NUMBERED)
def test_the_index_is_that_of_the_text(paper: str) -> None:
    path = TEXTS / f"{paper}.txt"
    if not path.exists():
        pytest.skip(f"the text of the paper is not at hand: {path.name}")
    text = path.read_text(encoding="utf-8")
    assert items_of_text(paper, text) == index(paper)


def test_what_is_missing_or_too_much_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.txt").write_text(TEXT, encoding="utf-8")
    kinds = {"Definition": 1, "Theorem": 1, "Figure": 1, "Equation": 2}
    monkeypatch.setattr(numbered, "NUMBERED", {"small": kinds, "not there": {"Theorem": 1}})
    assert differences(tmp_path) == []
    monkeypatch.setattr(numbered, "NUMBERED", {"small": kinds | {"Theorem": 2, "Equation": 1}})
    assert differences(tmp_path) == [
        "small: Equation 2 is not in the index",
        "small: Theorem 2 is not in the text",
    ]
    monkeypatch.setattr("sys.argv", ["numbered", str(tmp_path)])
    assert numbered.main() == 1


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("Theorem 1, (4) (ε)", {"Theorem 1", "Equation 4"}),
        ("Assumption 2, 3, 4 (γ, η < ¼, k ≥ 3/2η)", {"Assumption 2", "Assumption 3", "Assumption 4"}),
        ("Appendix A, C, (6), (13) (proofs of Theorem 1 and 3)",
         {"Appendix A", "Appendix C", "Equation 6", "Equation 13"}),
        ("Section 7, footnote 7 (PPLR)", {"Section 7", "Footnote 7"}),
        ("Section 6.2, text: (2.68, 0.0214) at Theorem 1", {"Section 6.2"}),
        ("Section II-B (Markov chains)", {"Section II-B"}),
        ("Supplement C, C.1 (proof of Theorem 1), (10)–(12)",
         {"Supplement C", "Proof C.1", "Equation 10", "Equation 11", "Equation 12"}),
        ("Published code", set()),
    ],
)  # fmt: skip
def test_cells_are_read(cell: str, names: set[str]) -> None:
    assert {" ".join(item) for item in items_in(cell)} == names
