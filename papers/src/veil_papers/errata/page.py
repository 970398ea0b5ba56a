"""docs/errata.md, made from the entries: their text, their code, and the numbers that the code gives now."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable
from itertools import groupby

from veil_papers.errata.bits import BITS
from veil_papers.errata.chains import CHAINS
from veil_papers.errata.erratum import Chapter, Erratum, Numbers
from veil_papers.errata.graphs import GRAPHS
from veil_papers.errata.models import MODELS
from veil_papers.errata.tables import TABLES
from veil_papers.errata.vectors import VECTORS
from veil_papers.errata.words import WORDS

ERRATA: tuple[Erratum, ...] = (*VECTORS, *CHAINS, *MODELS, *WORDS, *BITS, *GRAPHS, *TABLES)

_INTRO = """\
# What the papers say, and what holds

Veil implements published mechanisms. Some published statements are loose, some hold only under conditions that are easy to miss, and some are false. Each entry says which, and carries its counterexample: the Python below it runs as it stands, ends in assertions, and gives the numbers of the table under it. `python -m veil_papers.errata` computes them all anew and prints this page.

Short names: **DS** "Differential privacy on the unit simplex via the Dirichlet mechanism", **DC** "Differentially private data-driven Markov chain modeling", **MD** the matrix Dirichlet paper, **ST** symbolic trajectories, **XO** the XOR mechanism. What we reproduce is in [The papers, reproduced](papers.md).
"""  # noqa: E501 - a paragraph of markdown is one line

_CHAPTERS: dict[Chapter, str] = {
    "vectors": "## Vectors: DS and DC\n",
    "chains": """\
## Matrices and chains: MD and DC

P is the true chain, P̃ the released one, π and π̃ their stationary distributions. Proofs of what holds: `matrices/perturbation.md` and `matrices/mechanisms/matrix_dirichlet.md`.
""",  # noqa: E501
    "words": "## Words: ST\n",
    "bits": """\
## Bits and graphs: XO

A table X of N × P bits is released as X ⊕ B, P(B = b) ∝ exp(b′Πb), where Π holds Θ for the bits of a record and Λ_ij between two records. Proofs of what holds: `bits/mechanisms/bits.md` and `papers/xor_figures.py`.
""",  # noqa: E501
}


def errata_page() -> str:
    """The whole page. Every counterexample is computed for it, which takes some seconds."""
    parts = [_INTRO]
    for chapter, heading in _CHAPTERS.items():
        parts.append(heading)
        parts += [_entry(erratum) for erratum in ERRATA if erratum.chapter == chapter]
    return "\n".join(parts)


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


def places(papers: tuple[str, ...]) -> str:
    """What an entry is about, in short: DS Theorem 1, 2, 3, DC Theorem 1.

    >>> places(("dirichlet-simplex Theorem 1", "dirichlet-simplex Theorem 2", "data-driven-chains Theorem 1"))
    'DS Theorem 1, 2, DC Theorem 1'
    """
    kinds = groupby((name.rpartition(" ") for name in papers), key=lambda parts: parts[0])
    return ", ".join(f"{kind} {', '.join(number for _, _, number in found)}" for kind, found in kinds)


def _entry(erratum: Erratum) -> str:
    parts = [f"### {erratum.title} ({places(erratum.papers)})\n"]
    if erratum.says:
        parts.append(f"**The paper.** {erratum.says}\n")
    parts.append(f"**What holds.** {erratum.holds}\n" if erratum.says else f"{erratum.holds}\n")
    if erratum.show is not None:
        numbers = [(name.replace("|", r"\|"), shown(number)) for name, number in erratum.show()]
        rows = [f"| {name} | {number} |" for name, number in numbers]
        parts += [
            f"```python\n{top_level(erratum.show)}\n```\n",
            "\n".join(["| | |", "|---|---|", *rows, ""]),
        ]
    return "\n".join(parts)
