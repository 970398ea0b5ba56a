"""docs/errata.md, made from the entries: their text, their code, and the numbers that the code gives."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable
from itertools import groupby

from veil_papers.errata.bits import BITS
from veil_papers.errata.chains import CHAINS
from veil_papers.errata.counts import COUNTS
from veil_papers.errata.erratum import SEVERITIES, Erratum, Numbers, Severity
from veil_papers.errata.graphs import GRAPHS
from veil_papers.errata.models import MODELS
from veil_papers.errata.small_print import SMALL_PRINT
from veil_papers.errata.tables import TABLES
from veil_papers.errata.vectors import VECTORS
from veil_papers.errata.words import WORDS
from veil_papers.references import REFERENCES, reference

_PAPERS = [one.name for one in REFERENCES]


def _rank(erratum: Erratum) -> tuple[int, int]:
    """The gravest first; those of a severity in the order of the papers."""
    return SEVERITIES.index(erratum.severity), _PAPERS.index(erratum.papers[0].partition(" ")[0])


ERRATA: tuple[Erratum, ...] = tuple(
    sorted((*VECTORS, *CHAINS, *COUNTS, *MODELS, *WORDS, *BITS, *GRAPHS, *TABLES, *SMALL_PRINT), key=_rank)
)

_INTRO = """\
# What the papers say, and what holds

Veil implements published mechanisms. Some published statements are loose, some hold only under conditions that are easy to miss, and some are false. Each entry says which and quotes the place; all but the small print have a counterexample: the Python code below it can be run as is, ends in assertions, and gives the numbers of the table under it. `python -m veil_papers.errata` computes all of them and prints this page.

The gravest come first. What is not listed here holds as far as we know: [the papers, item by item](papers.md) has a row for every numbered item. The papers themselves are in [References](references.md). If an entry is unfair or mistaken, [say so](for-authors.md): entries have been withdrawn before.

Notation. Vectors: p is the input, x the output, W the protected entries, η the least of each, η̄ what is left beside them, b the largest change in the 1-norm, γ the threshold of Ω₁. Chains: P is the true chain, P̃ the released one, π and π̃ their stationary distributions. Words: n symbols from m letters, ℓ errors, C = (m − 1)exp(−ε/2b). Bits: a table X of N × P bits is released as X ⊕ B, P(B = b) ∝ exp(b′Πb), where Π holds Θ for the bits of a record and Λ_ij between two records. Proofs of what holds: `matrices/perturbation.md`, `matrices/mechanisms/matrix_dirichlet.md`, `bits/mechanisms/bits.md` and `veil_papers.xor_figures`.
"""  # noqa: E501 - a paragraph of markdown is one line

_HEADINGS: dict[Severity, str] = {
    "wrong result": """\
## Wrong results

A printed statement or number is false as it stands.
""",
    "wrong proof, right result": """\
## Wrong proofs, right results

A printed step is false. What it is to show holds, or no counterexample to it is known: the entry says which.
""",
    "imprecise": """\
## Imprecise

True, but loose, conditional, or short of a word that a reader needs.
""",
    "typo": """\
## Slips of the pen

What was meant is plain from the lines around it.
""",
    "code only": """\
## Published code

The text is one thing, the code that was published with it another.
""",
}
_PLURALS = {"Corollary": "Corollaries", "Appendix": "Appendices"}


def errata_page(table: Callable[[Erratum], str] | None = None) -> str:
    """The whole page. table: gives an entry's numbers as Markdown; they are computed by default."""
    given = _computed if table is None else table
    parts = [_INTRO, _summary()]
    for severity, text in _HEADINGS.items():
        parts.append(text)
        parts += [_entry(erratum, given) for erratum in ERRATA if erratum.severity == severity]
    return "\n".join(parts)


def _summary() -> str:
    """How many entries of each severity a paper has."""
    lines = [f"| paper | {' | '.join(SEVERITIES)} |", f"|---|{'---|' * len(SEVERITIES)}"]
    for paper in REFERENCES:
        mine = [
            one.severity for one in ERRATA if any(item.startswith(f"{paper.name} ") for item in one.papers)
        ]
        lines.append(f"| {paper.heading} | {' | '.join(str(mine.count(each)) for each in SEVERITIES)} |")
    return "\n".join([*lines, ""])


def number_table(numbers: Numbers) -> str:
    """The numbers of a counterexample as a table in Markdown."""
    rows = [(name.replace("|", r"\|"), shown(number)) for name, number in numbers]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {number} |" for name, number in rows), ""])


def top_level(show: Callable[[], Numbers]) -> str:
    """The body of a function as a script: no docstring, no indentation, and it prints what it returned."""
    source = textwrap.dedent(inspect.getsource(show))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    last = function.body[-1]
    assert isinstance(last, ast.Return)
    documented = ast.get_docstring(function) is not None
    first = (function.body[0].end_lineno or 0) if documented else function.body[0].lineno - 1
    lines = source.splitlines()
    body = textwrap.dedent("\n".join(lines[first : last.lineno - 1])).strip()
    listed = textwrap.dedent("\n".join(lines[last.lineno - 1 :])).strip()
    return f"{body}\nfor name, number in {listed.removeprefix('return ')}:\n    print(name, number)"


def shown(value: float | str) -> str:
    """A number to at most four digits, so that every machine prints the same: 0.0123, 2.46·10⁻⁸, 2,054,000.

    >>> shown(0.012345), shown(2053912.3), shown(2.4612e-8), shown(1667), shown(0)
    ('0.01235', '2,054,000', '2.46·10⁻⁸', '1,667', '0')
    """
    if isinstance(value, str):
        return value
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        if abs(value) < 1000:
            return f"{value:.4g}"
        rounded = round(value, 3 - math.floor(math.log10(abs(value))))
        return f"{rounded:,.0f}"
    digits, _, power = f"{value:.2e}".partition("e")
    return f"{digits}·10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def places(items: tuple[str, ...]) -> str:
    """What an entry is about, as it is cited.

    >>> places(("xor Theorem 1", "xor Theorem 2", "xor Section 7", "matrix-dirichlet Figure 1"))
    'XOR paper, Theorems 1, 2, Section 7; matrix Dirichlet paper, Figure 1'
    """
    papers = groupby((item.partition(" ") for item in items), key=lambda parts: parts[0])
    return "; ".join(reference(name).cite(_listed([item for _, _, item in found])) for name, found in papers)


def heading(erratum: Erratum) -> str:
    """The title of an entry, with what it is about."""
    return f"{erratum.title} ({places(erratum.papers)})"


def _listed(items: list[str]) -> str:
    """Items of one paper, those of a kind together: Theorems 1, 2, Section 7."""
    parts = []
    for kind, found in groupby((item.rpartition(" ") for item in items), key=lambda words: words[0]):
        numbers = [number for _, _, number in found]
        plural = _PLURALS.get(kind, f"{kind}s")
        parts.append(f"{kind if len(numbers) == 1 else plural} {', '.join(numbers)}")
    return ", ".join(parts)


def _computed(erratum: Erratum) -> str:
    assert erratum.show is not None
    return number_table(erratum.show())


def _entry(erratum: Erratum, table: Callable[[Erratum], str]) -> str:
    parts = [f"### {heading(erratum)}\n"]
    if erratum.quote:
        parts.append(f"**Printed.** {erratum.quote}\n")
    if erratum.says:
        parts.append(f"**The paper.** {erratum.says}\n")
    parts.append(f"**What holds.** {erratum.holds}\n" if erratum.says else f"{erratum.holds}\n")
    if erratum.show is not None:
        parts += [f"```python\n{top_level(erratum.show)}\n```\n", table(erratum)]
    return "\n".join(parts)
