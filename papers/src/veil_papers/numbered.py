"""The numbered items of the five papers: their kinds and numbers, and how they are read from text.

`python -m veil_papers.numbered FOLDER` compares the index with the papers' texts in that folder, where
they are at hand as `dirichlet-simplex.txt` and so on. docs/papers.md has a row for each item.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# Items of a kind are numbered from 1, or from A.
NUMBERED: dict[str, dict[str, int]] = {
    "dirichlet-simplex": {
        "Assumption": 3, "Definition": 5, "Lemma": 8, "Theorem": 4, "Corollary": 3, "Proposition": 1,
        "Remark": 4, "Figure": 5, "Equation": 28, "Appendix": 3,
    },
    "matrix-dirichlet": {
        "Assumption": 3, "Definition": 6, "Lemma": 4, "Theorem": 3, "Problem": 3, "Figure": 3, "Equation": 41,
    },
    "data-driven-chains": {
        "Assumption": 6, "Definition": 8, "Lemma": 8, "Theorem": 5, "Corollary": 1, "Problem": 4,
        "Example": 1, "Algorithm": 2, "Figure": 4, "Table": 1, "Equation": 33, "Supplement": 5, "Proof": 7,
    },
    "symbolic-trajectories": {
        "Definition": 6, "Lemma": 1, "Theorem": 3, "Mechanism": 2, "Algorithm": 2, "Problem": 4, "Figure": 5,
        "Equation": 13, "Appendix": 3,
    },
    "xor": {
        "Definition": 7, "Lemma": 2, "Theorem": 5, "Proposition": 1, "Remark": 2, "Algorithm": 3, "Figure": 5,
        "Table": 2, "Footnote": 8, "Equation": 10, "Appendix": 4,
    },
}  # fmt: skip

Item = tuple[str, str]
_LETTERED = ("Appendix", "Supplement")
_PLURALS = {"Corollaries": "Corollary", "Appendices": "Appendix"}
_KINDS = sorted({kind for kinds in NUMBERED.values() for kind in kinds} | {"Section"} - {"Proof"})
_KIND = "|".join([*_KINDS, *_PLURALS])
_NUMBER = r"\((?:\d+)\)|(?:\d+|[IVX]+|[A-E])(?:[.-](?:\d+|[A-E]|[IVX]+))*"
_TOKEN = re.compile(
    rf"(?P<proof>\bC\.\d)|\b(?P<kind>{_KIND})s?\b(?=\s+(?:{_NUMBER}))"
    rf"|(?<![\w.])(?P<first>{_NUMBER})(?:–(?P<last>\(?\d+\)?))?(?![\w–])"
)
# What is not a number of an item: glosses in parentheses. "(8)" and "(8)–(14)" stay.
_GLOSS = re.compile(r"\((?!\d+\))[^()]*(?:\([^()]*\)[^()]*)*\)")


def index(paper: str) -> set[Item]:
    """All numbered items of a paper: ("Theorem", "1"), ("Equation", "12"), ("Appendix", "B")."""
    return {(kind, name) for kind, count in NUMBERED[paper].items() for name in _names(kind, count)}


def _names(kind: str, count: int) -> list[str]:
    if kind in _LETTERED:
        return [chr(ord("A") + place) for place in range(count)]
    return [f"C.{number}" if kind == "Proof" else str(number) for number in range(1, count + 1)]


def items_in(text: str) -> set[Item]:
    """The items that a citation or the first cell of a row names.

    >>> sorted(items_in("Theorem 2, lower bound, (8)–(10)"))
    [('Equation', '10'), ('Equation', '8'), ('Equation', '9'), ('Theorem', '2')]
    >>> sorted(items_in("Figures 4, 5, Section VII (trading policies, k = 5)"))
    [('Figure', '4'), ('Figure', '5'), ('Section', 'VII')]
    >>> sorted(items_in("C.4 (proof of Lemma 1), (27)"))
    [('Equation', '27'), ('Proof', 'C.4')]
    """
    text = _GLOSS.sub(" ", text.partition(": ")[0]).replace("equation", "Equation")
    text = text.replace("footnote", "Footnote")
    found: set[Item] = set()
    kind = ""
    for token in _TOKEN.finditer(text):
        if token["proof"]:
            found.add(("Proof", token["proof"]))
        elif token["kind"]:
            kind = _PLURALS.get(token["kind"], token["kind"])
        else:
            first = token["first"]
            own = "Equation" if first.startswith("(") else kind
            first, last = first.strip("()"), (token["last"] or "").strip("()")
            names = [str(number) for number in range(int(first), int(last) + 1)] if last else [first]
            found |= {(own, name) for name in names if own}
    return found


_STATEMENT = r"^[*#>\s]*(?i:{kind})\s+(\d+)\s*(?:\*|\.|\(|:|$| [A-Z])"
_CAPTION = r"^[*\s]*(?:Figure|Fig\.)\s+(\d+)[:.]"
_HEADINGS = {
    "dirichlet-simplex": {"Appendix": r"^#+ APPENDIX ([A-Z]):"},
    "symbolic-trajectories": {"Appendix": r"^### ([A-C])\. Proof"},
    "data-driven-chains": {"Supplement": r"^([A-E]) [A-Z]{2,}", "Proof": r"^(C\.\d) PROOF"},
    "xor": {"Appendix": r"^#* *([A-D])\s+(?:PROOF|Proof)"},
}
_RAISED = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹", "123456789")


def items_of_text(paper: str, text: str) -> set[Item]:
    """The numbered items that the text of a paper has."""
    found: set[Item] = set()
    for kind in NUMBERED[paper]:
        if kind == "Equation":
            found |= {(kind, name) for name in _equations(text)}
        elif kind == "Footnote":
            marks = re.findall(r"^(?:\$+\{\}\^(\d)|([¹²³⁴⁵⁶⁷⁸⁹]))", text, re.MULTILINE)
            found |= {(kind, one or other.translate(_RAISED)) for one, other in marks}
        else:
            pattern = _HEADINGS.get(paper, {}).get(kind, _STATEMENT.format(kind=kind))
            pattern = _CAPTION if kind == "Figure" else pattern
            found |= {(kind, name) for name in re.findall(pattern, text, re.MULTILINE)}
    return found


def _equations(text: str) -> list[str]:
    """The numbers from 1 on that stand in parentheses, as long as none is missing."""
    numbers = {int(one or other) for one, other in re.findall(r"\((\d{1,2})\)|\\tag\{(\d+)\}", text)}
    last = 0
    while last + 1 in numbers:
        last += 1
    return [str(number) for number in range(1, last + 1)]


def differences(folder: Path) -> list[str]:
    """What the index and the texts in a folder do not agree on; a text that is not there is passed over."""
    told = []
    for paper in NUMBERED:
        path = folder / f"{paper}.txt"
        if path.exists():
            there, ours = items_of_text(paper, path.read_text(encoding="utf-8")), index(paper)
            told += [f"{paper}: {' '.join(item)} is not in the index" for item in sorted(there - ours)]
            told += [f"{paper}: {' '.join(item)} is not in the text" for item in sorted(ours - there)]
    return told


def main() -> int:
    """Print the differences; 1 if there are any."""
    told = differences(Path(sys.argv[1]))
    print("\n".join(told) or "The index and the texts agree.")
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main())
