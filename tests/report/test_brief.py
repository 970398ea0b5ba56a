"""What a prompt and a notebook show of large values: what they are, never all of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import veil
from veil import bits, chains, graphs, matrices, vectors, words
from veil.core.brief import brief, brief_repr, card_rows, short

SIZE = 300
LONG = "a label that goes on and on, longer than any notebook would want to show it, and then some: "


def made_up_labels(count: int) -> list[str]:
    return [f"{LONG}{i}" for i in range(count)]


@cache
def large(name: str) -> veil.Release[Any]:
    """A release of each kind that is too large to be written out."""
    rng = np.random.default_rng(1)
    if name == "vector":
        counts = dict(zip(made_up_labels(2_000), rng.integers(0, 50, 2_000).tolist(), strict=True))
        return vectors.release(counts, epsilon=1.0, rng=1)
    if name == "matrix":
        return matrices.release(rng.dirichlet(np.ones(100), 100), epsilon=1.0, transfer=1e-3, rng=1)
    if name == "chain":
        walks = rng.integers(0, 60, (500, 8))
        labels = made_up_labels(60)
        return chains.release(chains.read([[labels[i] for i in walk] for walk in walks]), epsilon=1.0, rng=1)
    if name == "words":
        language = words.FreeWords(made_up_labels(40), 50)
        return words.release(language.walks(80), language=language, epsilon=2.0, rng=1)
    if name == "bits":
        table = rng.random((400, 50)) < 0.4
        return bits.release(table, epsilon=40.0, rng=1)
    ends = np.unique(np.sort(rng.integers(0, SIZE, (900, 2)), axis=1), axis=0)
    edges = [(int(a), int(b)) for a, b in ends if a != b]
    facts: dict[str, Any] = {"statistics": ["degrees", "edges"], "share": 1.0} if name == "facts" else {}
    return graphs.release(graphs.read(edges, nodes=SIZE), epsilon=3.0, rng=1, **facts)


KINDS = ("vector", "matrix", "chain", "words", "bits", "graph", "facts")


@pytest.mark.slow_for("matrix", "vector")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", KINDS)
def test_a_large_release_is_one_line_at_the_prompt_and_a_few_when_printed(name: str) -> None:
    out = large(name)
    assert "\n" not in repr(out)
    assert len(repr(out)) < 160
    assert out.size in repr(out)
    assert "epsilon = " in repr(out)
    assert "not private" in repr(out)
    printed = str(out).split("\n")
    assert out.guarantee in printed
    assert all(any(text in line for line in printed) for text in out.assumptions)
    assert len(str(out)) < 1_500
    assert LONG not in str(out)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", KINDS)
def test_a_notebook_shows_a_short_and_useful_table_of_a_large_release(name: str) -> None:
    card = large(name)._repr_html_()
    assert len(card) < 6_000
    assert LONG not in card
    rows = card.count("<tr>")
    assert 3 <= rows <= 16
    # Numbers, or symbols, and not only how much there is.
    assert len(re.findall(r"<td[^>]*>[^<]+</td>", card)) >= 6
    assert "Not private" in card


@pytest.mark.parametrize("size", [3, 40])
def test_a_chain_shows_its_probabilities_in_a_notebook(size: int) -> None:
    matrix = np.full((size, size), 0.4 / (size - 1))
    np.fill_diagonal(matrix, 0.6)
    chain = veil.Chain(matrix, states=[f"<{i}>" for i in range(size)])
    card = chain._repr_html_()
    # All are visited equally often: which of 40 are shown is up to rounding.
    assert re.search("&lt;[0-9]+&gt;", card)
    assert not re.search("<[0-9]+>", card)
    assert "0.600" in card
    assert len(card) < 3_000


def test_a_chain_of_100_000_states_is_shown_without_solving_it() -> None:
    from scipy.sparse import csr_array

    size = 100_000
    ring = csr_array((np.ones(size), (np.arange(size), (np.arange(size) + 1) % size)), shape=(size, size))
    card = veil.Chain(ring)._repr_html_()
    assert "100,000 rows of 100,000 entries" in card
    assert len(card) < 3_000


@pytest.mark.slow
def test_values_computed_from_releases_are_one_short_line() -> None:
    out = large("chain")
    found = [
        chains.model(out),
        chains.synthetic(out, 50),
        chains.intervals(out),
        out.value.classes()[0],
        graphs.decoding(large("graph")),
        bits.estimates(large("bits")),
        words.FreeWords(made_up_labels(40), 50),
    ]
    for value in found:
        assert "\n" not in repr(value)
        assert len(repr(value)) < 400, type(value)
        assert repr(value).startswith(type(value).__name__)


def test_short_forms() -> None:
    @dataclass
    class Pair:
        left: Any
        right: Any

        __repr__ = brief_repr

    pair = repr(Pair(np.zeros((3, 4)), [1, 2]))
    assert pair.endswith("Pair(left=<array of 3 x 4>, right=[1, 2])")
    assert brief(np.array([1.0, 2.0])) == "array([1.0, 2.0])"
    assert brief(list(range(1_000))) == "<1,000 items>"
    assert brief("x" * 500) == "<str>"
    assert short("Penn Station/Madison Sq West", 12) == "Penn St…West"
    assert len(short("x" * 100, 12)) == 12
    assert card_rows(("<a>",), [("<b>", "1")]) == (
        "<tr><th>&lt;a&gt;</th></tr>"
        "<tr><td style='text-align:left'>&lt;b&gt;</td><td style='text-align:right'>1</td></tr>"
    )
