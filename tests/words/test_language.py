"""Languages: what is taken in, which words are in them, and what their errors give away."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import veil
from tests.oracles.words import (
    automaton_words,
    chain_words,
    exponential_logs,
    free_words,
    permute_and_flip_by_integral,
    permute_and_flip_law,
    random_recipe,
    worst_loss,
)
from veil.core.kind import kind_named
from veil.core.registry import domain_from
from veil.errors import InvalidArgument, InvalidData, VeilError

ROADS = {"a": ["b", "c"], "b": ["a"], "c": ["a", "c"]}
MATRIX = [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [0.25, 0.0, 0.75]]


def words_of(language: Any) -> set[tuple[Any, ...]]:
    found = list(language.enumerate())
    assert len(found) == len(set(found)) == language.number_of_words
    return set(found)


def test_the_oracles_agree_with_each_other() -> None:
    """Two ways to permute-and-flip; and the loss of a case that is known in closed form."""
    words = chain_words(ROADS, 3)
    for word in words[:3]:
        one, two = permute_and_flip_law(words, word, 0.7), permute_and_flip_by_integral(words, word, 0.7)
        assert max(abs(one[v] - two[v]) for v in words) < 1e-13
        assert abs(sum(one.values()) - 1.0) < 1e-12
    everything = free_words("abc", 3)
    assert worst_loss(everything, exponential_logs(everything, 0.9), 2) == pytest.approx(1.8)


# Chains


def released() -> veil.Release[Any]:
    """A chain that was released, with the same zeros."""
    chain = veil.Chain(MATRIX, states=list("abc"))
    counts = veil.chains.TransitionCounts(np.array(MATRIX).astype(int), states=list("abc"))
    return replace(veil.chains.release(counts, epsilon=1.0, rng=1), value=chain)


def supports() -> dict[str, Any]:
    frame = pd.DataFrame(MATRIX, index=list("abc"), columns=list("abc"))
    graph = nx.DiGraph([(s, t) for s, row in ROADS.items() for t in row])
    bits = np.array(MATRIX) > 0
    with_zeros = sparse.csr_array(
        (np.array(MATRIX).ravel(), np.tile(range(3), 3), [0, 3, 6, 9]), shape=(3, 3)
    )
    return {
        "dict of lists": ROADS,
        "dict of sets": {state: set(row) for state, row in ROADS.items()},
        "dict with doubles": {state: [*row, *row] for state, row in ROADS.items()},
        "dict of dicts": {s: dict.fromkeys(row, 0.5) for s, row in ROADS.items()},
        "frame": frame,
        "frame, columns turned": frame[["c", "a", "b"]],
        "frame of 0 and 1": frame.gt(0).astype(int),
        "graph": graph,
        "chain": veil.Chain(MATRIX, states=list("abc")),
        "release of a chain": released(),
        "probabilities": np.array(MATRIX),
        "integers": bits.astype(int),
        "booleans": bits,
        "lists": MATRIX,
        "lists of booleans": bits.tolist(),
        "sparse array": sparse.csr_array(np.array(MATRIX)),
        "sparse matrix": sparse.coo_matrix(np.array(MATRIX)),
        "sparse booleans": sparse.csr_array(bits),
        "sparse with written zeros": with_zeros,
    }


@pytest.mark.mostly_slow(quick=7)
@pytest.mark.parametrize("start", [None, "a", "c"])
@pytest.mark.parametrize("form", sorted(supports()))
def test_every_form_of_support_is_the_same_language(form: str, start: Any) -> None:
    support = supports()[form]
    bare = form in {"probabilities", "integers", "booleans", "lists", "lists of booleans"} or "sparse" in form
    language = veil.words.ChainWords(support, 4, start=start, **({"states": list("abc")} if bare else {}))
    expected = set(chain_words(ROADS, 4, start))
    assert words_of(language) == expected
    assert all(word in language for word in expected)
    assert all((word in language) == (word in expected) for word in free_words("abc", 4))
    numbered = (
        veil.words.ChainWords(support, 4, start=None if start is None else "abc".index(start))
        if bare
        else None
    )
    if numbered is not None:
        assert words_of(numbered) == {tuple("abc".index(str(s)) for s in word) for word in expected}


def test_a_frame_of_booleans() -> None:
    frame = pd.DataFrame(MATRIX, index=list("abc"), columns=list("abc")).gt(0)
    assert words_of(veil.words.ChainWords(frame, 2)) == set(chain_words(ROADS, 2))


def test_dead_ends_end_words_only() -> None:
    roads = {"a": ["b", "end"], "b": ["a", "end"]}
    language = veil.words.ChainWords(roads, 3)
    assert words_of(language) == set(chain_words(roads, 3))
    assert ("a", "b", "end") in language
    assert ("a", "end", "b") not in language
    assert ("end", "a", "b") not in language
    assert len(words_of(veil.words.ChainWords(roads, 1))) == 3


@pytest.mark.parametrize(
    ("support", "length", "start"),
    [
        ({"a": ["b"], "b": []}, 3, None),
        ({"a": ["b"], "b": ["c"], "c": []}, 3, "a"),
        ({"a": ["a", "b"]}, 2, "b"),
        (np.zeros((3, 3)), 2, None),
    ],
)
def test_empty_languages_are_errors(support: Any, length: int, start: Any) -> None:
    with pytest.raises(InvalidArgument, match="only dead ends"):
        veil.words.ChainWords(support, length, start=start)


@pytest.mark.parametrize(
    "support",
    [
        {},
        {"a": "bc"},
        {"a": 3},
        {"a": ["a"]},
        [[0.5, 0.5]],
        [[0.5, -0.5], [1.0, 0.0]],
        [[np.nan, 1.0], [1.0, 0.0]],
        [["a", "b"], ["c", "d"]],
        nx.Graph([("a", "b")]),
        None,
        5,
        "ab",
        np.ones((2, 2, 2)),
        pd.DataFrame([[1, 1], [1, 1]], index=["a", "b"], columns=["a", "c"]),
    ],
)
def test_wrong_supports_are_errors_of_veil(support: Any) -> None:
    with pytest.raises(VeilError):
        veil.words.ChainWords(support, 3)


def test_wrong_starts_and_lengths() -> None:
    for start in ("d", 0, 1.5):
        with pytest.raises(InvalidArgument, match="start"):
            veil.words.ChainWords(ROADS, 3, start=start)
    for length in (0, -1, 2.5, "3", True, None, 10**9):
        with pytest.raises(InvalidArgument, match="length"):
            veil.words.ChainWords(ROADS, length)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="length"):
            veil.words.FreeWords(3, length)  # type: ignore[arg-type]
    for symbols in (1, 0, -3, 2.5, "a", "aa", ["a", "a"], [["a"], ["b"]], None, True):
        with pytest.raises(InvalidArgument, match="symbols"):
            veil.words.FreeWords(symbols, 3)
    with pytest.raises(InvalidArgument, match="states"):
        veil.words.ChainWords(MATRIX, 3, states=["a", "b"])


def test_a_matrix_of_tuples() -> None:
    assert words_of(veil.words.ChainWords(((0, 1), (1, 1)), 2)) == {(0, 1), (1, 0), (1, 1)}


def test_an_unhashable_start_is_an_error_of_veil() -> None:
    with pytest.raises(VeilError):
        veil.words.ChainWords(ROADS, 3, start=["a"])  # type: ignore[arg-type]


# Automata

ENDS_IN_AB = {("q", "a"): ["q", "r"], ("q", "b"): ["q"], ("r", "b"): ["s"]}
AUTOMATA: dict[str, tuple[Any, Any, Any]] = {
    "deterministic": ({(0, "a"): [1], (0, "b"): [0], (1, "a"): [1], (1, "b"): [0]}, 0, [1]),
    "nondeterministic": (ENDS_IN_AB, "q", ["s"]),
    "ambiguous": ({(0, "a"): [0, 1], (0, "b"): [0, 1], (1, "a"): [0, 1], (1, "b"): [1]}, 0, [0, 1]),
    "self-loops": ({(0, "a"): [0], (0, "b"): [0]}, 0, [0]),
    "unreachable": ({(0, "a"): [0, 1], (1, "b"): [0], (7, "c"): [0], (8, "a"): [7]}, 0, [0, 8]),
    "empty ends": ({(0, "a"): [0], (0, "b"): [], (0, "c"): [0]}, 0, [0]),
    "dead states": ({(0, "a"): [0, 2], (0, "b"): [2], (2, "a"): [2], (0, "c"): [0]}, 0, [0]),
}


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("name", sorted(AUTOMATA))
def test_automata_accept_each_word_once(name: str, length: int) -> None:
    moves, start, accepting = AUTOMATA[name]
    expected = automaton_words(moves, start, accepting, length)
    if not expected:
        with pytest.raises(InvalidArgument, match="an accepted word"):
            veil.words.AutomatonWords(moves, start, accepting, length)
        return
    language = veil.words.AutomatonWords(moves, start, accepting, length)
    assert words_of(language) == set(expected)
    for word in free_words(language.labels, length):
        assert (word in language) == (word in set(expected))
    again: Any = domain_from(json.loads(json.dumps(language.describe())), kind_named("words"))
    assert words_of(again) == set(expected)
    assert again == language


def test_single_states_and_sets_are_taken() -> None:
    moves = {("q", "a"): {"r", "q"}, ("q", "b"): "q", ("r", "b"): frozenset("s")}
    language = veil.words.AutomatonWords(moves, "q", "s", 3)
    assert words_of(language) == {("a", "a", "b"), ("b", "a", "b")}
    listed = [["q", "a", ["q"]], ["q", "a", ["r"]], ["q", "b", ["q"]], ["r", "b", ["s"]]]
    assert words_of(veil.words.AutomatonWords(listed, "q", ["s"], 3)) == words_of(language)


@pytest.mark.parametrize(
    ("moves", "start", "accepting"),
    [
        (ENDS_IN_AB, "x", ["s"]),
        (ENDS_IN_AB, "q", ["x"]),
        (ENDS_IN_AB, "q", []),
        ({}, "q", ["q"]),
        ({"qa": ["q"]}, "q", ["q"]),
        ({("q", "a"): ["q"]}, "q", ["q"]),
        (5, "q", ["q"]),
        (None, "q", ["q"]),
        ({("q", "a"): None, ("q", "b"): ["q"]}, "q", ["q"]),
    ],
)
def test_wrong_automata_are_errors_of_veil(moves: Any, start: Any, accepting: Any) -> None:
    with pytest.raises(VeilError):
        veil.words.AutomatonWords(moves, start, accepting, 3)


@pytest.mark.slow
def test_random_languages_are_those_of_the_oracle() -> None:
    for seed in range(150):
        recipe = random_recipe(seed, most=300)
        language = recipe.build(veil)
        assert words_of(language) == set(recipe.words()), recipe
        again: Any = domain_from(json.loads(json.dumps(language.describe())), kind_named("words"))
        assert again == language
        assert words_of(again) == words_of(language)
        walks = list(language.walks(20, rng=seed))
        assert set(walks) <= set(recipe.words())
        other = recipe.length + 1
        if len(recipe.words(other)) > 1:
            assert language.of_length(other).number_of_words == len(recipe.words(other))


# Labels and forms of words


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1, 2],
        ["x", "yy", "z"],
        ["a", 1, "1"],
        [(0, 1), (1, 0), (1, 1)],
        [0.5, 1.5, 2.5],
        [None, "a", 0],
        np.array([4, 5, 6]),
        np.array(["u", "v", "w"]),
    ],
)
def test_labels_of_any_kind(labels: Any) -> None:
    language = veil.words.FreeWords(labels, 2)
    plain = [item.item() if isinstance(item, np.generic) else item for item in labels]
    assert words_of(language) == set(free_words(plain, 2))
    word = (plain[1], plain[2])
    assert list(language.validate(word)) == [word]
    assert language.validate(list(word)).is_single
    batch = language.validate([word, word[::-1]])
    assert not batch.is_single
    assert list(batch) == [word, word[::-1]]
    support = {plain[0]: [plain[1], plain[2]], plain[1]: [plain[0]], plain[2]: [plain[0]]}
    chain = veil.words.ChainWords(support, 2)
    assert words_of(chain) == set(chain_words(support, 2))
    for made in (language, chain):
        again: Any = domain_from(json.loads(json.dumps(made.describe())), kind_named("words"))
        assert again.number_of_words == made.number_of_words
        if all(type(label) in (int, str) for label in plain):
            assert again == made


def test_labels_that_are_written_alike_are_refused_or_told_apart() -> None:
    try:
        language = veil.words.FreeWords([1.5, "1.5"], 2)
    except InvalidArgument:
        return
    again: Any = domain_from(language.describe(), kind_named("words"))
    assert again.number_of_words == 4


def test_booleans_as_labels_are_refused_or_work() -> None:
    try:
        language = veil.words.FreeWords([True, False], 2)
    except InvalidArgument:
        return
    assert [True, False] in language


def test_strings_are_words() -> None:
    language = veil.words.FreeWords("abc", 3)
    assert list(language.validate("cab")) == [("c", "a", "b")]
    assert list(language.validate(["cab", "abc"])) == [tuple("cab"), tuple("abc")]
    assert language.validate(["c", "a", "b"]).is_single
    assert "cab" in language
    assert "cabc" not in language
    assert "xyz" not in language


def test_forms_of_batches() -> None:
    language = veil.words.FreeWords(4, 3)
    rows = [[0, 1, 2], [3, 3, 0]]
    expected = [(0, 1, 2), (3, 3, 0)]
    forms: list[Any] = [
        rows,
        tuple(map(tuple, rows)),
        np.array(rows),
        np.array(rows, dtype=np.uint8),
        [np.array(row) for row in rows],
        iter(rows),
        language.validate(rows),
        veil.words.FreeWords([3, 2, 1, 0], 3).validate(rows),
        np.asfortranarray(rows),
    ]
    for form in forms:
        batch = language.validate(form)
        assert list(batch) == expected
        assert not batch.is_single
    assert language.validate(np.array(rows[0])).is_single
    assert language.validate(pd.Series(rows[0])).is_single
    assert not language.validate(np.array(rows[:1])).is_single
    several = language.validate([[0], [1, 2], np.array([3, 3, 3])], shorter=True)
    assert list(several) == [(0,), (1, 2), (3, 3, 3)]
    assert several.lengths.tolist() == [1, 2, 3]


def test_strings_of_several_lengths() -> None:
    language = veil.words.FreeWords("ab", 2)
    assert list(language.validate(["ab", "b"], shorter=True)) == [("a", "b"), ("b",)]


def test_arrays_of_mixed_labels() -> None:
    word = np.array(["a", 1], dtype=object)
    assert list(veil.words.FreeWords(["a", 1], 2).validate(word)) == [("a", 1)]
    assert list(veil.words.FreeWords(["a", 1], 2).validate(np.array([word, word]))) == [("a", 1)] * 2


@pytest.mark.parametrize("kind", ["frame", "dict", "set"])
def test_things_that_are_no_sequences_of_symbols(kind: str) -> None:
    language = veil.words.FreeWords(5, 3)
    if kind == "frame":
        frame = pd.DataFrame([[4, 4, 4], [3, 3, 3]])
        try:
            batch = language.validate(frame)
        except VeilError:
            return
        assert list(batch) == [(4, 4, 4), (3, 3, 3)]
        return
    with pytest.raises(InvalidData):
        language.validate({0: 4, 1: 4, 2: 4} if kind == "dict" else {0, 1, 2})


def test_booleans_are_treated_alike() -> None:
    language = veil.words.FreeWords(2, 2)
    assert (np.array([True, False]) in language) == ([True, False] in language)


@pytest.mark.parametrize(
    "value",
    [
        5,
        None,
        b"abc",
        "",
        [],
        [[]],
        [[], []],
        ["ab", ""],
        [["a", "b"], []],
        np.empty((0, 2)),
        np.empty((2, 0)),
        np.zeros((2, 2, 2)),
        np.array(3),
        ["a", ["b"]],
        [["a", "b"], "a"],
        ["a", None],
        [["a", "b"], ["a", "b", "a"]],
        "abc",
        ["a", float("nan")],
        [{"a"}, {"b"}],
        object(),
    ],
)
def test_wrong_words_are_invalid_data(value: Any) -> None:
    language = veil.words.FreeWords("ab", 2)
    with pytest.raises(InvalidData):
        language.validate(value)
    assert value not in language


SECRET = "zebra"


@pytest.mark.parametrize("form", ["list", "array", "batch", "batch array"])
@pytest.mark.parametrize("position", [1, 2, 4])
def test_errors_name_the_position_and_not_the_symbol(form: str, position: int) -> None:
    """Unknown symbols, symbols that may not follow, and words that may not end so."""
    roads = {"cat": ["dog", SECRET], "dog": ["cat"], SECRET: ["cat", "dog"]}
    good = ["dog", "cat", "dog", "cat"]
    for wrong, start in (("quagga", None), (SECRET, "dog"), (good[position - 2], None)):
        if start is None and wrong != "quagga" and position == 1:
            continue
        language = veil.words.ChainWords(roads, 4, start="cat" if start else None)
        word = list(good)
        word[position - 1] = wrong
        if tuple(word) in language:
            continue
        value: Any = word
        if form == "array":
            value = np.array(word)
        elif form == "batch":
            value = [good, word]
        elif form == "batch array":
            value = np.array([good, word])
        with pytest.raises(InvalidData) as caught:
            language.validate(value)
        text = str(caught.value)
        number = re.search(r"position (\d+)", text)
        assert number is not None
        # The first place at which no word goes on: where the symbol is, or right after it.
        assert int(number[1]) in (position, position + 1)
        assert ("word 2" in text) == form.startswith("batch")
        assert not any(symbol in text for symbol in (*roads, "quagga"))


def test_the_exact_position_of_the_first_step_that_is_not_allowed() -> None:
    language = veil.words.ChainWords(ROADS, 5, start="a")
    for word, position in (("aabac", 1), ("bbaca", 2), ("bacbb", 4), ("baccb", 5)):
        assert tuple(word) not in chain_words(ROADS, 5, "a")
        with pytest.raises(InvalidData, match=rf"word, position {position}: "):
            language.validate(word)
        with pytest.raises(InvalidData, match=rf"word 3, position {position}: "):
            language.validate(["bacca", "caccc", word])
    automaton = veil.words.AutomatonWords(ENDS_IN_AB, "q", ["s"], 4)
    with pytest.raises(InvalidData, match=r"word, position 4: expected a symbol on which a word may end"):
        automaton.validate("abaa")


def test_lengths_are_named() -> None:
    language = veil.words.ChainWords(ROADS, 3)
    with pytest.raises(InvalidData, match=r"word: expected 3 symbols, found 2"):
        language.validate("ac")
    with pytest.raises(InvalidData, match=r"word 2: expected 3 symbols, found 4"):
        language.validate(["aca", "acac", "aca"])
    with pytest.raises(InvalidData, match=r"word 2: expected at most 3 symbols, found 4"):
        language.validate([list("aca"), list("acac"), ["a"]], shorter=True)
    assert len(language.validate([list("aca"), ["a"]], shorter=True)) == 2


def test_shorter_words_must_be_feasible_in_their_own_length() -> None:
    automaton = veil.words.AutomatonWords(ENDS_IN_AB, "q", ["s"], 4)
    assert list(automaton.validate([list("ab"), list("bbab")], shorter=True)) == [tuple("ab"), tuple("bbab")]
    with pytest.raises(InvalidData, match="word 1, position 2"):
        automaton.validate([list("ba"), list("bbab")], shorter=True)


# Adjacency


def test_hamming() -> None:
    assert veil.words.Hamming(2).describe() == {"name": "Hamming", "radius": 2, "words_each": 1}
    assert "2 symbols" in veil.words.Hamming(2).words
    assert "3 words" in veil.words.Hamming(1, words_each=3).words
    for radius in (0, -1, 1.5, "1", None, True):
        with pytest.raises(InvalidArgument, match="radius"):
            veil.words.Hamming(radius)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="words_each"):
        veil.words.Hamming(1, words_each=0)


def test_batches_compare_and_index() -> None:
    language = veil.words.FreeWords("abc", 3)
    batch = language.validate([list("abc"), list("ab"), list("c")], shorter=True)
    assert batch[-1] == ("c",)
    assert batch[1:] == [("a", "b"), ("c",)]
    with pytest.raises(IndexError):
        batch[3]
    assert batch == language.validate(list(batch), shorter=True)
    assert hash(batch) == hash(language.validate(list(batch), shorter=True))
    assert batch != language.validate(["abc"])
    assert isinstance(batch, veil.words.WordBatch)
