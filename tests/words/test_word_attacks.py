"""Attacks on words that once succeeded, and must not again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil.core.files import to_json
from veil.core.kind import kind_named
from veil.core.random.streams import generator
from veil.core.registry import domain_from, mechanism_from
from veil.errors import CannotCalibrate, InvalidArgument, UnreadableFile, VeilError
from veil.words.numerics.graph import graph_of
from veil.words.requests import WordRelease
from veil.words.samplers.exponential import sample_words

ROADS = {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b", "c"]}
CHAIN = veil.words.ChainWords(ROADS, 4)
WORD = ["a", "b", "c", "c"]


@pytest.mark.parametrize(("length", "radius"), [(5, 3), (20, 4), (7, 2), (3, 5), (6, 1)])
def test_the_loss_for_each_symbol_covers_any_number_of_them(length: int, radius: int) -> None:
    """The staircase falls at once after `radius` symbols: a mean over the whole word would hide that."""
    mechanism = veil.words.StaircaseWords(veil.words.FreeWords(2, length), 2.0, radius=radius)
    for many in range(radius + 1, length + 1):
        assert mechanism.loss(many) <= many * mechanism.loss_each * (1.0 + 1e-12)


@pytest.mark.parametrize("shape", [(9, 5, 3), (11, 4, 2)])
def test_the_staircase_at_other_radii_covers_shorter_words(shape: tuple[int, int, int]) -> None:
    length, radius, alphabet = shape
    longest = veil.words.StaircaseWords(veil.words.FreeWords(alphabet, length), 1.5, radius=radius)
    for shorter in range(1, length + 1):
        mechanism = veil.words.StaircaseWords(veil.words.FreeWords(alphabet, shorter), 1.5, radius=radius)
        logs = mechanism.steps(shorter).log_weights
        for many in range(1, shorter + 1):
            exact = float(np.max(logs[:-many] - logs[many:]))
            assert exact <= longest.loss(many) * (1.0 + 1e-12)


def _record(mechanism: Any, value: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_json(veil.release(mechanism, value)))
    return found


def _loaded(record: dict[str, Any], folder: Path) -> veil.Release[Any]:
    path = folder / "forged.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return veil.load(path)


TABLE = {"type": "words", "words": 2, "lengths": {"4": 2}}
BESIDE = {"words": {"file": "x.csv", "sha256": "0"}}


def test_a_table_under_the_mechanism_of_one_word_says_whose_words_they_are(tmp_path: Path) -> None:
    record = _record(veil.words.ExponentialWords(CHAIN, 2.0), WORD)
    forged = _loaded(record | {"value": TABLE, "attachments": BESIDE}, tmp_path)
    assert set(forged.kind.implied_assumptions(forged)) - set(forged.assumptions)


@pytest.mark.parametrize(
    ("value", "beside"),
    [
        (TABLE | {"lengths": {"99": 2}}, BESIDE),
        (TABLE | {"lengths": {"3": 2}}, BESIDE),
        (TABLE | {"words": -3, "lengths": {"-1": -3}}, BESIDE),
        (TABLE | {"words": 0, "lengths": {}}, BESIDE),
        (TABLE | {"words": 5}, BESIDE),
        (TABLE, {"words": BESIDE["words"] | {"file": "../x.csv"}}),
        (TABLE, {}),
    ],
)
def test_tables_that_cannot_be(value: dict[str, Any], beside: dict[str, Any], tmp_path: Path) -> None:
    record = _record(veil.words.PermuteAndFlip(CHAIN, 2.0), WORD)
    good = record | {"value": TABLE, "attachments": BESIDE}
    assert len(_loaded(good, tmp_path).value) == 2
    with pytest.raises(UnreadableFile):
        _loaded(good | {"value": value, "attachments": beside}, tmp_path)


@pytest.mark.parametrize(
    ("language", "balance"),
    [
        (veil.words.FreeWords(3, 4), {"weights": [1e9] * 5}),
        (veil.words.FreeWords(3, 4), {"first_weights": [2.0]}),
        (CHAIN, {"first_weights": [2.0] * 10}),
        (CHAIN, {"weights": [2.0]}),
        (CHAIN, {"memory": 9}),
        (CHAIN, {"decay": 0.0}),
    ],
)
def test_stated_weights_are_never_ignored(language: Any, balance: dict[str, Any]) -> None:
    content = {"decay": 0.2, "weights": [], "first_weights": [], "memory": None} | balance
    parameters = {"language": language.describe(), "epsilon": 2.0, "radius": 1, "balance": content}

    def graph() -> Any:
        made: Any = mechanism_from({"name": "BalancedWords", "parameters": parameters}, kind_named("words"))
        return made.graph

    with pytest.raises(VeilError):
        graph()


def test_a_record_says_with_which_decay_it_was_drawn(tmp_path: Path) -> None:
    record = _record(veil.words.ExponentialWords(CHAIN, 2.0), WORD)
    parameters = record["mechanism"]["parameters"]
    assert parameters["drawn_with"] == veil.words.ExponentialWords(CHAIN, 2.0).decay
    assert _loaded(record, tmp_path).profile.pure_epsilon == 2.0
    parameters["drawn_with"] = 0.01
    with pytest.raises(VeilError, match="is proved"):
        _ = _loaded(record, tmp_path).profile


def test_tables_never_lose_a_word() -> None:
    """At a huge epsilon the rate stops where nothing is seen of it; beyond the exponents is an error."""
    language = veil.words.ChainWords({"a": ["a"], "b": ["b"]}, 20)
    assert veil.words.ExponentialWords(language, 500.0, calibration="generic").rate <= 46.01
    graph = graph_of([[0], [1]], 3_000_000)
    words = np.zeros((1, 3_000_000), dtype=np.int32)
    with pytest.raises(InvalidArgument, match="shorter words"):
        sample_words(generator(1), graph=graph, words=words, decay=1e-108)


def test_too_long_for_permute_and_flip_is_an_error_of_ours() -> None:
    with pytest.raises(CannotCalibrate, match="too long"):
        _ = veil.words.PermuteAndFlip(veil.words.ChainWords(ROADS, 600_000), 5.0).rate


def test_words_stay_out_of_representations() -> None:
    language = veil.words.ChainWords({"aa": ["bb"], "bb": ["aa", "bb"]}, 2)
    job = WordRelease(language=language, epsilon=1.0, mechanism="sequential").prepare([["bb", "aa"]])
    assert "1, 0" not in repr(job)
    assert repr(job.value) == "<WordBatch of 1 words over 2 symbols>"


def test_one_word_is_not_taken_for_many_of_one_symbol() -> None:
    with pytest.raises(InvalidArgument, match="could be one word"):
        veil.words.release(list("abab"), epsilon=1.0, radius=4)


def test_an_automaton_is_read_back_as_it_was() -> None:
    states: dict[Any, Any] = {((0,), "a"): "(0,)", ("(0,)", "b"): "(0,)", ((0,), "b"): (0,)}
    language = veil.words.AutomatonWords(states, (0,), ["(0,)"], 3)
    again: Any = domain_from(json.loads(json.dumps(language.describe())), kind_named("words"))
    assert again.number_of_words == language.number_of_words
    assert list(again.enumerate()) == list(language.enumerate())


def test_what_is_guessed_of_a_file_is_said(tmp_path: Path) -> None:
    from veil.core.mechanism import LAYOUT_IS_PUBLIC

    (tmp_path / "log.csv").write_text("who,time,place\nx,1,a\nx,2,b\ny,1,c\ny,2,a\n")
    held = veil.words.read(tmp_path / "log.csv", by="who", order="time", state="place")
    assert held.layout_guessed
    assert held.reordered([1, 0]).layout_guessed
    language = veil.words.ChainWords(ROADS, 2)
    job = WordRelease(language=language, epsilon=1.0, mechanism="sequential").prepare(held)
    assert LAYOUT_IS_PUBLIC in job.run().assumptions
