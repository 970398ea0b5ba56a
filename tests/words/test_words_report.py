"""The page and the terminal's lines for released words: from the record and public facts alone."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.cli.conftest import no_pictures, some_pictures  # noqa: F401
from veil.core.privacy.profile import beliefs
from veil.words.planning import plan_words
from veil.words.report.console import print_word_plan, print_word_release
from veil.words.report.page import WordReport, inner
from veil.words.requests import WordRelease

pytestmark = pytest.mark.usefixtures("some_pictures")
ROADS = {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b", "c"]}
CHAIN = veil.words.ChainWords(ROADS, 5)
WORDS = ["abaca", "cccba", "bacab", "cabca", "abcab", "acbac"]
MIXED = ["ab", "cccba", "b", "acc"]


def made(words: Any = WORDS, language: Any = CHAIN, **options: Any) -> veil.Release[Any]:
    chosen: dict[str, Any] = {"epsilon": 2.0, "mechanism": "sequential", "rng": 4} | options
    return veil.words.release(words, language=language, **chosen)


def report_of(out: veil.Release[Any]) -> WordReport:
    return WordReport.of(out, veil.words.batch(out))


def plain(page: str) -> str:
    """What a reader sees, in one line."""
    text = re.sub(r"<style.*?</style>|<svg.*?</svg>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def test_what_the_page_says() -> None:
    text = plain(report_of(made()).html())
    for part in (
        "6 words over 3 symbols, released by SequentialWords",
        "ε = 2",
        "1 of 5",
        "Not private.",
        "Every private word is feasible",
        "two feasible words of the same length differ in one symbol",
        "A whole word is hidden less.",
        "This holds only if:",
        "Other mechanisms at the same ε",
        "random walks",
    ):
        assert part in text
    for row in ("exponential", "sequential", "permute-and-flip"):
        assert row in text


def test_the_page_of_one_who_has_several_words() -> None:
    text = plain(report_of(made(words_each=3, radius=2)).html())
    assert "privacy loss of all words of a person" in text
    assert "all but 2 symbols of a word" in text
    assert "no person has more than 3 words" in text


def test_the_page_of_mixed_lengths() -> None:
    report = report_of(made(MIXED))
    assert report.lengths == [(1, 1), (2, 1), (3, 1), (5, 1)]
    assert "The number of words and their lengths are public" in report.html()


def test_free_words_are_not_called_feasible_paths() -> None:
    text = plain(report_of(made(language=veil.words.FreeWords("abc", 5), mechanism="exponential")).html())
    assert "Every private word is feasible" not in text
    found = plain(report_of(veil.words.release(WORDS, epsilon=2.0)).html())
    assert "the list of states is public" in found
    assert "Not private." not in found


@pytest.mark.slow
def test_noise_is_called_noise() -> None:
    assert "Mostly noise." in plain(report_of(made(epsilon=0.01)).html())
    assert "Mostly noise." not in plain(report_of(made(epsilon=9.0)).html())


def test_shares_are_those_of_the_private_words() -> None:
    out = made()
    report = report_of(out)
    symbols = [symbol for word in veil.words.batch(out) for symbol in word]
    assert dict(report.visits) == pytest.approx({s: symbols.count(s) / len(symbols) for s in set(symbols)})
    shares = [share for _, share in report.visits]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 400.0])
def test_beliefs_are_moved_as_far_as_bayes_allows(epsilon: float) -> None:
    for before, after in beliefs(made(epsilon=epsilon).epsilon):
        odds = math.log(before / (1.0 - before)) + epsilon
        assert after == pytest.approx(1.0 / (1.0 + math.exp(-odds)))


@pytest.mark.slow
def test_the_error_is_that_of_made_up_words_and_of_this_mechanism() -> None:
    """Never that of the released or the true words."""
    for words in (WORDS, MIXED):
        out = made(words)
        expected = inner(out).expected_errors(CHAIN.walks(100, rng=5).rows).mean()
        assert report_of(out).error == pytest.approx(float(expected), rel=0.05)
    same = [report_of(made(words)).error for words in (WORDS, WORDS[::-1], ["ccccc"] * 6)]
    assert len(set(same)) == 1


@pytest.mark.slow
def test_the_page_is_made_of_the_record_alone(tmp_path: Path) -> None:
    """What is read back from a file makes the same page, so nothing of the true words is in it."""
    out = made(epsilon=0.1, rng=1)
    out.save(tmp_path / "out.json")
    page = report_of(out).html()
    assert report_of(veil.load(tmp_path / "out.json")).html() == page
    private = {"".join(map(str, word)) for word in veil.words.batch(out)}
    # At this seed no word came out as it went in.
    assert not private & set(WORDS)
    assert not any(" → ".join(word) in page for word in WORDS)
    assert any(" → ".join(word) in page for word in private)


@pytest.mark.slow
def test_two_inputs_with_the_same_private_words_make_the_same_page() -> None:
    """Seeds at which both come out alike: then nothing may tell the pages apart."""
    language = veil.words.ChainWords(ROADS, 2)
    one = made([["a", "b"]], language, rng=9)
    others = (made([["c", "c"]], language, rng=seed) for seed in range(1000))
    other = next(out for out in others if veil.words.batch(out) == veil.words.batch(one))
    pages = [re.sub(r"\d{4}-\d\d-\d\dT[\d:+]*", "", report_of(out).html()) for out in (one, other)]
    assert pages[0] == pages[1]


def test_few_words_are_shown_and_long_ones_are_cut() -> None:
    language = veil.words.FreeWords("abc", 30)
    page = report_of(made(language.walks(9), language, mechanism="exponential")).html()
    shown = re.findall(r'<td class="left">([^<]*)</td>', page)
    assert len(shown) == 5
    assert all(text.count("→") == 20 and text.endswith("→ …") for text in shown)


def test_labels_are_escaped() -> None:
    evil = "<img src=x onerror=alert(1)>"
    out = veil.words.release(
        [[evil, "b"], ["b", evil]], language=veil.words.FreeWords([evil, "b"], 2), epsilon=300.0
    )
    page = report_of(out).html()
    assert "<img" not in page
    assert "&lt;img" in page


def test_the_page_needs_nothing_else() -> None:
    page = report_of(made()).html()
    assert "<svg" in page
    assert "<script" not in page
    assert not re.search(r"""(src|href)=["'](?!#)|@import|url\((?!#)""", page)


def test_a_single_word_has_a_page_too() -> None:
    out = veil.release(veil.words.SequentialWords(CHAIN, 2.0), list("abaca"))
    assert "1 word over 3 symbols, released by SequentialWords" in plain(report_of(out).html())


# The terminal


def test_a_release_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    job = WordRelease(language=CHAIN, epsilon=2.0, radius=2).prepare(WORDS)
    print_word_release(job.run(), job=job, written=[Path("out.csv")])
    text = capsys.readouterr().out
    assert "6 words of 5 symbols." in text
    assert "of 5 symbols wrong, on made-up words of that length." in text
    assert f"Mechanism: {job.chosen}, the least expected error (" in text
    assert text.endswith("Written: out.csv\n")
    job = WordRelease(language=CHAIN, epsilon=2.0, mechanism="sequential").prepare(MIXED)
    print_word_release(job.run(rng=4), job=job, written=[])
    text = capsys.readouterr().out
    assert "4 words of 1 to 5 symbols." in text
    assert "Mechanism: sequential.\n" in text
    assert "NOT PRIVATE: drawn from a seed." in text


def test_many_symbols_and_long_names(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"a street with a very long name, the {i}th of its kind in this town" for i in range(30)]
    language = veil.words.FreeWords(names, 4)
    job = WordRelease(language=language, epsilon=3.0).prepare(language.walks(50))
    print_word_release(job.run(), job=job, written=[])
    text = capsys.readouterr().out
    assert "and 20 more" in text
    assert max(map(len, text.splitlines()[:11])) <= 100


@pytest.mark.slow
def test_a_plan_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_word_plan(plan_words(CHAIN, 2.0, names=("staircase", "sequential", "generic")))
    text = capsys.readouterr().out
    assert "Paths of 5 states over 3 states with 7 allowed steps, from anywhere; epsilon = 2." in text
    assert "Hidden: 1 symbol of a word." in text
    assert re.search(r"staircase +- +- +language: expected FreeWords", text)
    assert text.index("sequential") < text.index("staircase")
    print_word_plan(replace(plan_words(CHAIN, 2.0, radius=2, examples=WORDS), error=1.0))
    text = capsys.readouterr().out
    assert "For 1 wrong symbol of 5: epsilon = 2." in text
    assert "(the examples given)" in text
