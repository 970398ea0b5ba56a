"""Released words: the record, the charge, files that are read back, files that lie."""

from __future__ import annotations

import csv
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from tests.cli.conftest import Run, folder, run  # noqa: F401
from tests.oracles.words import chain_words
from veil.core.files import save, to_json
from veil.errors import BudgetExceeded, InvalidArgument, InvalidData, UnreadableFile, VeilError
from veil.words.adjacency import ONE_WORD_EACH
from veil.words.codec import attached
from veil.words.mechanisms.each_word import LENGTHS_ARE_PUBLIC
from veil.words.mechanisms.word_mechanism import FEASIBLE_IS_PUBLIC

ROADS = {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b", "c"]}
LANGUAGE = veil.words.ChainWords(ROADS, 4, start="a")
FREE = veil.words.FreeWords("abc", 4)
WORD = ("b", "c", "c", "a")
WORDS = [list("bcca"), list("bac"), ["b"], list("caba")]
MAKERS: dict[str, Callable[..., Any]] = {
    "certified": lambda *args, **more: veil.words.ExponentialWords(*args, **more),
    "generic": lambda *args, **more: veil.words.ExponentialWords(*args, calibration="generic", **more),
    "balanced": lambda *args, **more: veil.words.BalancedWords(*args, **more),
    "sequential": lambda *args, **more: veil.words.SequentialWords(*args, **more),
    "permute-and-flip": lambda *args, **more: veil.words.PermuteAndFlip(*args, **more),
}
EACH_NAME = pytest.mark.parametrize("name", list(MAKERS))


def each_word(name: str, epsilon: float, words_each: int = 1) -> veil.words.EachWord:
    """For words of several lengths."""
    more = {"shorter": True} if name in ("certified", "balanced") else {}
    return veil.words.EachWord(MAKERS[name](LANGUAGE, epsilon, **more), words_each=words_each)


class Book:
    """A ledger that writes down what is asked of it, and when words are drawn."""

    def __init__(self, *, limit: float = 1e9) -> None:
        self.log: list[Any] = []
        self.limit = limit

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> str:
        self.log.append(("reserve", epsilon, delta, description["name"]))
        # A ledger keeps it: it must be plain.
        json.dumps(description)
        if epsilon > self.limit:
            raise BudgetExceeded(spent="0", asked=f"{epsilon:g}", remaining=f"{self.limit:g}")
        return "entry-1"

    def confirm(self, entry: str) -> None:
        self.log.append(("confirm", entry))


# What a release holds


@EACH_NAME
def test_one_word(name: str) -> None:
    mechanism = MAKERS[name](LANGUAGE, 1.3)
    out = veil.release(mechanism, WORD)
    assert isinstance(out.value, tuple)
    assert out.value in set(chain_words(ROADS, 4, "a"))
    assert (out.epsilon, out.delta, out.reproducible, out.entry) == (1.3, 0.0, False, None)
    assert out.adjacency == veil.words.Hamming(1)
    assert out.domain == LANGUAGE
    assert out.assumptions == (FEASIBLE_IS_PUBLIC,)
    assert out.profile.epsilon(0.0) == pytest.approx(1.3)
    assert veil.release(MAKERS[name](FREE, 1.3), WORD).assumptions == ()
    assert veil.release(mechanism, "bcca", rng=1).reproducible
    assert not veil.release(mechanism, "bcca").reproducible


@EACH_NAME
def test_a_batch_is_of_different_people(name: str) -> None:
    out = veil.release(MAKERS[name](LANGUAGE, 1.3), [WORD, WORD, WORD])
    assert out.value.shape == (3, 4)
    assert out.assumptions[-1] == ONE_WORD_EACH
    assert out.epsilon == 1.3
    with pytest.raises(ValueError, match="read-only"):
        out.value[0, 0] = "a"
    single = veil.release(MAKERS[name](LANGUAGE, 1.3), [WORD])
    assert single.value.shape == (1, 4)
    assert single.assumptions[-1] == ONE_WORD_EACH


@pytest.mark.slow_for("1-balanced")
@EACH_NAME
@pytest.mark.parametrize("words_each", [1, 3])
def test_words_of_several_lengths(name: str, words_each: int) -> None:
    mechanism = each_word(name, 0.5, words_each)
    out = veil.release(mechanism, WORDS, rng=1)
    assert [len(word) for word in out.value] == [4, 3, 1, 4]
    assert all(word in set(chain_words(ROADS, len(word), "a")) for word in out.value)
    assert out.epsilon == 0.5 * words_each
    assert out.adjacency == veil.words.Hamming(1, words_each=words_each)
    whose = ONE_WORD_EACH if words_each == 1 else "no person has more than 3 words"
    assert out.assumptions == (FEASIBLE_IS_PUBLIC, LENGTHS_ARE_PUBLIC, whose)


def test_other_adjacencies_are_charged_for() -> None:
    mechanism = veil.words.ExponentialWords(LANGUAGE, 1.0)
    assert veil.release(mechanism, WORD, adjacency=veil.words.Hamming(1, words_each=2)).epsilon == 2.0
    two = veil.release(mechanism, WORD, adjacency=veil.words.Hamming(2)).epsilon
    assert 1.0 < two <= 4.0
    assert veil.release(
        veil.words.ExponentialWords(LANGUAGE, 1.0, radius=2), WORD
    ).adjacency == veil.words.Hamming(2)
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.release(mechanism, WORD, adjacency=veil.vectors.Transfer(0.1))
    with pytest.raises(VeilError, match="epsilon"):
        veil.release(mechanism, WORD, epsilon=0.9)
    assert veil.release(mechanism, WORD, epsilon=1.1).epsilon == 1.1


def test_assumptions_do_not_contradict_the_adjacency() -> None:
    out = veil.release(
        veil.words.ExponentialWords(LANGUAGE, 1.0),
        [WORD, WORD],
        adjacency=veil.words.Hamming(1, words_each=2),
    )
    assert ONE_WORD_EACH not in out.assumptions


# The charge


@pytest.mark.mostly_slow(quick=5)
@pytest.mark.parametrize(
    "epsilon",
    [0.1, 0.3, 1, 1 / 3, 0.1 + 0.2, 7.000001, 2.00000000000001, 2.7182818284590455],
)
@EACH_NAME
def test_the_charge_is_the_stated_decimal(name: str, epsilon: float) -> None:
    for language in (FREE, LANGUAGE):
        book = Book()
        out = veil.release(MAKERS[name](language, epsilon), WORD, ledger=book)
        assert out.epsilon == epsilon
        assert book.log[0][1:3] == (epsilon, 0.0)


def test_order(monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book()
    real_check, real_draw = veil.words.ChainWords.validate, veil.words.ExponentialWords.draw_rows

    def check(self: Any, *args: Any, **more: Any) -> Any:
        book.log.append(("validate",))
        return real_check(self, *args, **more)

    def draw(self: Any, *args: Any, **more: Any) -> Any:
        book.log.append(("draw",))
        return real_draw(self, *args, **more)

    monkeypatch.setattr(veil.words.ChainWords, "validate", check)
    monkeypatch.setattr(veil.words.ExponentialWords, "draw_rows", draw)
    out = veil.release(veil.words.ExponentialWords(LANGUAGE, 1.0), WORD, ledger=book)
    steps = [step[0] for step in book.log]
    assert steps[0] == "validate"
    assert [step for step in steps if step != "validate"] == ["reserve", "draw", "confirm"]
    assert book.log[-1] == ("confirm", "entry-1")
    assert out.entry == "entry-1"


@EACH_NAME
def test_what_is_wrong_costs_nothing(name: str) -> None:
    mechanism = MAKERS[name](LANGUAGE, 1.0)
    each = each_word(name, 1.0)
    for made, value, more in (
        (mechanism, "bbca", {}),
        (mechanism, "bcc", {}),
        (mechanism, ["bcca", "xcca"], {}),
        (each, ["bcca", "bb"], {}),
        (each, ["bccab"], {}),
        (mechanism, WORD, {"rng": "dice"}),
        (mechanism, WORD, {"adjacency": veil.vectors.Transfer(0.1)}),
        (mechanism, WORD, {"epsilon": 0.5}),
        (mechanism, None, {}),
    ):
        book = Book()
        with pytest.raises(VeilError):
            veil.release(made, value, ledger=book, **more)
        assert book.log == []


@pytest.mark.slow_for("balanced")
@EACH_NAME
def test_a_refused_charge_draws_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = MAKERS[name](LANGUAGE, 1.0)

    def never(*args: Any, **more: Any) -> Any:
        raise AssertionError("drawn although refused")

    monkeypatch.setattr(type(mechanism), "draw_rows", never)
    for made, value in ((mechanism, WORD), (mechanism, [WORD, WORD]), (each_word(name, 1.0), WORDS)):
        book = Book(limit=0.5)
        with pytest.raises(BudgetExceeded):
            veil.release(made, value, ledger=book)
        assert [step[0] for step in book.log] == ["reserve"]


def test_a_failure_after_the_reservation_stays_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **more: Any) -> Any:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(veil.words.SequentialWords, "draw_rows", broken)
    book = Book()
    with pytest.raises(veil.errors.ResultLost, match="RuntimeError"):
        veil.release(veil.words.SequentialWords(LANGUAGE, 1.0), WORD, ledger=book)
    assert [step[0] for step in book.log] == ["reserve"]


@pytest.mark.parametrize("words_each", [1, 3, 7])
def test_release_words(words_each: int) -> None:
    book = Book()
    out = veil.words.release(
        WORDS,
        language=LANGUAGE,
        epsilon=1.1,
        words_each=words_each,
        mechanism="sequential",
        ledger=book,
        rng=1,
    )
    assert out.epsilon == 1.1
    assert book.log[0][1] == 1.1
    assert [len(word) for word in out.value] == [4, 3, 1, 4]
    each: Any = out.mechanism
    assert each.mechanism.epsilon * words_each == pytest.approx(1.1)
    found = veil.words.release(["abc", "abcb"], epsilon=1.0, rng=1)
    assert any("public" in text and "list" in text for text in found.assumptions)
    for bad in (["abx"], ["abbb"], ["b" * 5]):
        book = Book()
        with pytest.raises(InvalidData):
            veil.words.release(bad, language=LANGUAGE, epsilon=1.0, ledger=book)
        assert book.log == []
    with pytest.raises(InvalidArgument, match="mechanism"):
        veil.words.release(WORDS, language=LANGUAGE, epsilon=1.0, mechanism="best")


@pytest.mark.slow
def test_auto_does_not_look_at_the_words() -> None:
    """Whatever the words are, the mechanism that is chosen is the same."""
    words = chain_words(ROADS, 4, "a")[::6]
    chosen = [veil.words.release([word], language=LANGUAGE, epsilon=2.0, rng=1).mechanism for word in words]
    assert all(mechanism == chosen[0] for mechanism in chosen)


# Files


def forms(name: str = "certified") -> dict[str, veil.Release[Any]]:
    mechanism = MAKERS[name](LANGUAGE, 1.3)
    return {
        "word": veil.release(mechanism, WORD, rng=1),
        "batch": veil.release(mechanism, [WORD, WORD], rng=1),
        "batch of one": veil.release(mechanism, [WORD], rng=1),
        "each": veil.release(each_word(name, 1.3, 2), WORDS, rng=1),
        "each, one length": veil.release(veil.words.EachWord(mechanism), [WORD, WORD], rng=1),
        "numbers": veil.release(MAKERS[name](veil.words.FreeWords(3, 2), 1.0), [2, 0], rng=1),
    }


@pytest.mark.slow_for("balanced")
@EACH_NAME
def test_files_are_read_back(name: str, tmp_path: Path) -> None:
    for form, out in forms(name).items():
        path = tmp_path / f"{form}.json"
        out.save(path)
        back = veil.load(path)
        assert back == out
        assert back.mechanism == out.mechanism
        assert type(back.value) is type(out.value)
        assert list(map(tuple, veil.words.batch(back))) == list(map(tuple, veil.words.batch(out)))
        assert (back.epsilon, back.assumptions) == (out.epsilon, out.assumptions)
        assert back.adjacency == out.adjacency
        assert back.profile.pure_epsilon == out.profile.pure_epsilon
        assert to_json(back) == to_json(out)
        assert hash(back) == hash(out)
        assert pickle.loads(pickle.dumps(out)) == out


def test_automata_and_other_labels_in_files(tmp_path: Path) -> None:
    moves = {("q", 5): ["q", "r"], ("q", 7): ["q"], ("r", 7): ["s"]}
    automaton = veil.words.AutomatonWords(moves, "q", ["s"], 3)
    mixed = veil.words.FreeWords(["a", 1, "1"], 2)
    for language, word in ((automaton, (7, 5, 7)), (mixed, ("1", 1))):
        out = veil.release(veil.words.SequentialWords(language, 2.0), word, rng=1)
        out.save(tmp_path / "w.json", overwrite=True)
        assert veil.load(tmp_path / "w.json") == out
        assert veil.load(tmp_path / "w.json").value == out.value
    pairs = veil.words.FreeWords([(0, 1), (1, 0)], 2)
    out = veil.release(veil.words.SequentialWords(pairs, 2.0), [(0, 1), (0, 1)], rng=1)
    out.save(tmp_path / "pairs.json")
    assert veil.load(tmp_path / "pairs.json").value == tuple(map(str, out.value))


def test_batches_of_mixed_labels_are_saved(tmp_path: Path) -> None:
    out = veil.release(
        veil.words.SequentialWords(veil.words.FreeWords(["a", 1], 2), 2.0), [["a", 1], [1, 1]], rng=1
    )
    out.save(tmp_path / "mixed.json")
    assert list(veil.words.batch(veil.load(tmp_path / "mixed.json"))) == list(veil.words.batch(out))


def test_csv_and_pandas(tmp_path: Path) -> None:
    for form, out in forms().items():
        out.save(tmp_path / f"{form}.csv")
        with (tmp_path / f"{form}.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        expected = [
            (str(i), str(t), str(symbol))
            for i, word in enumerate(veil.words.batch(out), start=1)
            for t, symbol in enumerate(word, start=1)
        ]
        assert [(row["word"], row["position"], row["symbol"]) for row in rows] == expected
        series = out.to_pandas()
        assert list(map(str, series)) == [symbol for _, _, symbol in expected]
        assert list(map(str, series.index)) == [number for number, _, _ in expected]


@pytest.mark.parametrize("form", list(forms()))
def test_words_have_a_card_in_notebooks(form: str) -> None:
    assert "epsilon" in forms()[form]._repr_html_() or "ε" in forms()[form]._repr_html_()


@pytest.mark.parametrize("form", ["word", "batch", "each"])
def test_words_are_no_chain(form: str) -> None:
    with pytest.raises(InvalidArgument, match="square matrix"):
        veil.matrices.to_chain(forms()[form])


def test_a_record_beside_a_table(tmp_path: Path, run: Run) -> None:  # noqa: F811
    out = forms()["each"]
    out.save(tmp_path / "words.csv")
    save(attached(out, tmp_path / "words.csv"), tmp_path / "words.json")
    back = veil.load(tmp_path / "words.json")
    table = back.attachments["words"]
    assert table.is_beside(tmp_path / "words.json") is True
    assert run("inspect", "words.json").code == 0
    (tmp_path / "words.csv").write_text((tmp_path / "words.csv").read_text().replace("b", "c"))
    assert table.is_beside(tmp_path / "words.json") is False
    assert run("inspect", "words.json").code == 4
    with pytest.raises(InvalidArgument, match=r"words\.csv"):
        veil.words.batch(back)
    content = json.loads((tmp_path / "words.json").read_text())
    for place, change in (
        ("attachments", {"words": {"file": "../words.csv", "sha256": table.sha256}}),
        ("attachments", {"words": {"file": "/etc/passwd", "sha256": table.sha256}}),
        ("attachments", {"words": {"file": "a\nb.csv", "sha256": table.sha256}}),
        ("attachments", {"words": {"file": "words.csv", "sha256": "0" * 65}}),
        ("attachments", {"words": {"file": "words.csv"}}),
        ("value", {"words": 3}),
        ("value", {"lengths": {"x": 1}}),
        ("value", {"lengths": {"9": 4}}),
        ("value", {"lengths": None}),
    ):
        forged = content | {place: content[place] | change}
        (tmp_path / "forged.json").write_text(json.dumps(forged))
        with pytest.raises(UnreadableFile):
            veil.load(tmp_path / "forged.json")


@pytest.mark.parametrize("form", ["word", "batch", "each", "numbers"])
def test_inspect_says_that_it_holds(form: str, tmp_path: Path, run: Run) -> None:  # noqa: F811
    out = forms()[form]
    out.save(tmp_path / "w.json")
    done = run("inspect", "w.json", "--json")
    assert done.code == 0, done.err
    assert done.json["verified"] is True
    assert done.json["computed_epsilon"] == out.epsilon
    assert run("inspect", "w.json").code == 0


def test_inspect_counts_words(tmp_path: Path, run: Run) -> None:  # noqa: F811
    forms()["word"].save(tmp_path / "w.json")
    assert run("inspect", "w.json", "--json").json["words"] == 1


# Forgeries


def forge(content: Any, change: Callable[[Any], None]) -> Any:
    copy = json.loads(json.dumps(content))
    change(copy)
    return copy


def _set(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = to

    return change


_LANGUAGE = ("mechanism", "parameters", "language")
REFUSED: dict[str, Callable[[Any], None]] = {
    "epsilon lowered": _set("privacy", "epsilon", to=0.5),
    "a rate beside the epsilon": _set("mechanism", "parameters", "rate", to=5.0),
    "a word outside the language": _set("value", "data", to=["b", "b", "c", "a"]),
    "an unknown symbol": _set("value", "data", to=["b", "c", "c", "z"]),
    "a longer word": _set("value", "data", to=["b", "c", "c", "a", "c"]),
    "a shorter word": _set("value", "data", to=["b", "c", "c"]),
    "no word": _set("value", "data", to=[]),
    "words for a word": _set("value", "data", to=[["b", "c", "c", "a"]] * 2),
    "a number for a word": _set("value", "data", to=5),
    "another kind of value": _set("value", "type", to="vector"),
    "a larger radius": _set("adjacency", "radius", to=2),
    "more words each": _set("adjacency", "words_each", to=2),
    "a radius of nothing": _set("adjacency", "radius", to=0),
    "another adjacency": _set("adjacency", to={"name": "Transfer", "mass": 0.1}),
    "assumptions left out": _set("assumptions", to=[]),
    "a mechanism with more epsilon": _set("mechanism", "parameters", "epsilon", to=2.6),
    "no epsilon": _set("mechanism", "parameters", "epsilon", to=None),
    "epsilon not a number": _set("privacy", "epsilon", to="1.3"),
    "epsilon NaN": _set("privacy", "epsilon", to=float("nan")),
    "another calibration": _set("mechanism", "parameters", "calibration", to="none"),
    "another language": _set(*_LANGUAGE, "support", "successors", to=[[1], [2], [0]]),
    "a broken support": _set(*_LANGUAGE, "support", "successors", to=[[1], [9], [0]]),
    "another start": _set(*_LANGUAGE, "start", to="z"),
    "another length": _set(*_LANGUAGE, "length", to=5),
    "an unknown language": _set(*_LANGUAGE, "name", to="Words"),
    "a vector's mechanism": _set("mechanism", "name", to="Dirichlet"),
}


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("what", list(REFUSED))
def test_forged_files_are_refused_or_flagged(what: str, tmp_path: Path, run: Run) -> None:  # noqa: F811
    forms()["word"].save(tmp_path / "good.json")
    assert run("inspect", "good.json").code == 0
    content = json.loads((tmp_path / "good.json").read_text())
    (tmp_path / "forged.json").write_text(json.dumps(forge(content, REFUSED[what])))
    done = run("inspect", "forged.json")
    assert done.code in (2, 4), (what, done)
    assert "Traceback" not in done.err
    if "word" in what and "each" not in what:
        with pytest.raises(UnreadableFile):
            veil.load(tmp_path / "forged.json")


def test_forged_batches_are_refused(tmp_path: Path) -> None:
    out = forms()["each"]
    out.save(tmp_path / "good.json")
    content = json.loads((tmp_path / "good.json").read_text())
    for change in (
        _set("value", "data", 1, to=["b", "b"]),
        _set("value", "data", 1, to=["b"] * 5),
        _set("value", "data", 1, to=[]),
        _set("mechanism", "parameters", "words_each", to=0),
        _set("mechanism", "parameters", "mechanism", "name", to="EachWord"),
        _set("mechanism", "parameters", "mechanism", "parameters", "epsilon", to=-1),
    ):
        (tmp_path / "forged.json").write_text(json.dumps(forge(content, change)))
        with pytest.raises(UnreadableFile):
            veil.load(tmp_path / "forged.json")


def test_short_words_need_a_mechanism_that_covers_them(tmp_path: Path) -> None:
    forms("balanced")["each"].save(tmp_path / "good.json")
    content = json.loads((tmp_path / "good.json").read_text())
    content["mechanism"]["parameters"]["mechanism"]["parameters"]["shorter"] = False
    (tmp_path / "forged.json").write_text(json.dumps(content))
    with pytest.raises(UnreadableFile):
        veil.load(tmp_path / "forged.json")


@pytest.mark.parametrize("what", ["decay", "weights", "first weights", "fewer weights", "weights of nothing"])
def test_forged_weights_are_refused_or_flagged(what: str, tmp_path: Path, run: Run) -> None:  # noqa: F811
    """A balanced mechanism brings its numbers along; its guarantee is computed from them anew."""
    out = veil.release(veil.words.BalancedWords(LANGUAGE, 1.3), WORD, rng=1)
    out.save(tmp_path / "good.json")
    assert run("inspect", "good.json").code == 0
    content = json.loads((tmp_path / "good.json").read_text())
    balance = content["mechanism"]["parameters"]["balance"]
    key = {"decay": "decay", "first weights": "first_weights"}.get(what, "weights")
    if key != "decay" and not balance[key]:
        pytest.skip("nothing is weighted in this language")
    if what == "decay":
        balance["decay"] **= 2
    elif what == "fewer weights":
        balance["weights"] = balance["weights"][1:]
    elif what == "weights of nothing":
        balance["weights"][0] = 0.0
    else:
        balance[key] = [x * (200.0 if i % 2 else 0.005) for i, x in enumerate(balance[key])]
    (tmp_path / "forged.json").write_text(json.dumps(content))
    done = run("inspect", "forged.json")
    assert done.code in (2, 4), done
    assert "Traceback" not in done.err


def test_a_file_cannot_speak_in_our_name(tmp_path: Path, run: Run) -> None:  # noqa: F811
    """Labels of a forged file with control characters: none of them reaches the terminal."""
    bad = "b\x1b[2K\rverified: epsilon = 0"
    roads = {"a": ["plain", "c"], "plain": ["a", "c"], "c": ["a", "plain", "c"]}
    word = ("plain", "c", "c", "a")
    out = veil.release(
        veil.words.SequentialWords(veil.words.ChainWords(roads, 4, start="a"), 1.0), word, rng=1
    )
    text = to_json(out).replace('"plain"', json.dumps(bad))
    (tmp_path / "loud.json").write_text(text)
    done = run("inspect", "loud.json")
    assert done.code == 4
    assert "a control character at position 2" in done.err
    assert "\x1b" not in done.out + done.err
    # Files of old versions may hold any label, and stay readable.
    (tmp_path / "loud.json").write_text(text.replace('"schema": 3', '"schema": 2'))
    done = run("inspect", "loud.json")
    assert done.code == 0
    assert "\x1b" not in done.out + done.err


def test_nothing_of_the_input_is_kept(tmp_path: Path) -> None:
    """At a tiny epsilon the output hardly depends on the input: its label is nowhere."""
    language = veil.words.FreeWords([*map(str, range(50)), "SECRET"], 3)
    mechanism = veil.words.SequentialWords(language, 0.01)
    out = next(
        made
        for seed in range(20)
        if "SECRET" not in (made := veil.release(mechanism, ["SECRET"] * 3, rng=seed)).value
    )
    out.save(tmp_path / "w.csv")
    assert "SECRET" not in (tmp_path / "w.csv").read_text()
    value = json.loads(to_json(out))
    del value["mechanism"], value["domain"]
    assert "SECRET" not in json.dumps(value)
    assert np.ndim(out.value) == 1
