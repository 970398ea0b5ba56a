"""Words on the command line: every option and kind of file, what is said, and what is never said."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.params import quick_first
from veil.core.job import Job
from veil.core.mechanism import LAYOUT_IS_PUBLIC, STATES_ARE_PUBLIC
from veil.words.adjacency import ONE_WORD_EACH
from veil.words.mechanisms.each_word import LENGTHS_ARE_PUBLIC
from veil.words.mechanisms.word_mechanism import FEASIBLE_IS_PUBLIC
from veil.words.report.page import WordReport

from .conftest import Done, Run

CHAIN = {"a": "bc", "b": "ac", "c": "abc"}
# Whose word it is, and the word. No two are alike, and the order of the keys is not that of the file.
WORDS = {
    "Zora": "abac",
    "Yves": "cc",
    "Xenia": "bca",
    "Wim": "abc",
    "Viggo": "caba",
    "Ugo": "ba",
    "Tess": "acca",
    "Sven": "cba",
}
IN_ORDER = [WORDS[key] for key in sorted(WORDS)]
LOG = ("--by", "who", "--order", "time", "--state", "place")
ROADS = ("--chain", "small.csv")
QUICK = ("log.csv", *LOG, *ROADS, "-e", "4", "-m", "sequential")
# So much that a symbol is wrong in one of 10^150 releases: what comes out is what went in.
EXACT = ("log.csv", *LOG, *ROADS, "-e", "400", "-m", "sequential")


def log_text(words: dict[str, str], *, header: str = "who,time,place") -> str:
    rows = [f"{who},{time},{symbol}" for who, word in words.items() for time, symbol in enumerate(word)]
    return "\n".join([header, *rows]) + "\n"


@pytest.fixture(autouse=True)
def tables(folder: Path) -> Path:
    edges = [f"{state},{end}" for state, ends in CHAIN.items() for end in ends]
    (folder / "small.csv").write_text("\n".join(["from,to", *edges]) + "\n")
    (folder / "log.csv").write_text(log_text(WORDS))
    (folder / "lines.txt").write_text("% a comment\n" + "".join(f"{' '.join(word)}\n" for word in IN_ORDER))
    trips = ["who,trip,time,place"]
    for number, (who, word) in enumerate([("Ida", "ab"), ("Ida", "cc"), ("Jon", "bca"), ("Ida", "bab")]):
        trips += [f"{who},{number},{time},{symbol}" for time, symbol in enumerate(word)]
    (folder / "trips.csv").write_text("\n".join(trips) + "\n")
    return folder


def _never(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("drawn")


def _closed(*args: Any, **kwargs: Any) -> Any:
    raise PermissionError


def words_of(rows: list[list[Any]]) -> dict[Any, str]:
    """The words of rows (key, position, symbol), whose positions must be 1, 2, ..."""
    found: dict[Any, str] = {}
    for key, position, symbol in rows:
        word = found.get(key, "")
        assert int(position) == len(word) + 1
        found[key] = word + str(symbol)
    return found


def read_csv(text: str) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(text))
    return header, rows


def loaded(path: Path) -> Any:
    return veil.load(path)


def batch(record: Any) -> list[Any]:
    """The words of a record."""
    return list(veil.words.batch(record))


def release(run: Run, *arguments: str) -> Done:
    done = run("release", "words", *arguments)
    assert done.code == 0, done.err + done.out
    return done


def refused(run: Run, *arguments: str, code: int, says: str) -> Done:
    """Said in one line, the same to machines, and nothing written."""
    before = sorted(Path().iterdir())
    done = run("release", "words", *arguments)
    assert done.code == code, done.err + done.out
    assert says in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    machine = run("release", "words", *arguments, "--json")
    assert machine.code == code
    assert _unnumbered(machine.json["error"]["message"]) in _unnumbered(done.err)
    assert sorted(Path().iterdir()) == before
    return done


def _unnumbered(text: str) -> str:
    """Which word is wrong is told by a number that may differ from run to run."""
    return re.sub(r"word \d+", "word", text)


def but(arguments: tuple[str, ...], **changes: str) -> tuple[str, ...]:
    """The arguments with other values for options that they have; each may be given once."""
    found = list(arguments)
    for name, value in changes.items():
        flag = f"-{name}" if len(name) == 1 else f"--{name}"
        found[found.index(flag) + 1] = value
    return tuple(found)


def is_feasible(word: str) -> bool:
    return all(b in CHAIN[a] for a, b in pairwise(word))


# Files


@pytest.mark.parametrize(
    "name", quick_first(["out.csv", "out.parquet", "out.csv.gz", "out.pq", "OUT.CSV"], quick=2)
)
def test_tables(run: Run, folder: Path, name: str) -> None:
    done = release(run, *EXACT, "-o", name)
    record = re.sub(r"\.(csv\.gz|csv|parquet|pq)$", ".json", name, flags=re.IGNORECASE)
    assert done.out.endswith(f"Written: {name}\nWritten: {record}\n")
    if name.lower().endswith((".parquet", ".pq")):
        import pyarrow.parquet as pq

        table = pq.read_table(folder / name)
        header, rows = table.column_names, [list(row.values()) for row in table.to_pylist()]
    else:
        raw = (folder / name).read_bytes()
        header, rows = read_csv((gzip.decompress(raw) if name.endswith(".gz") else raw).decode())
    assert header == ["who", "time", "place"]
    found = words_of(rows)
    # Numbered, and nobody is named.
    assert [int(key) for key in found] == list(range(1, len(WORDS) + 1))
    assert sorted(found.values()) == sorted(IN_ORDER)
    held = json.loads((folder / record).read_text())
    assert held["attachments"]["words"]["file"] == name
    assert held["value"] == {"type": "words", "words": 8, "lengths": {"2": 2, "3": 3, "4": 3}}
    seen = run("inspect", record)
    assert seen.code == 0
    assert f"The table {name} beside it is the one that was written." in seen.out


def test_numbers_are_in_random_order(run: Run, folder: Path) -> None:
    """Not from a seed: that 8 words stay in their order twice happens once in 10^9."""
    orders = []
    for name in ("one.csv", "two.csv"):
        release(run, *EXACT, "-o", name)
        orders.append(list(words_of(read_csv((folder / name).read_text())[1]).values()))
    assert orders != [IN_ORDER, IN_ORDER]
    assert orders != [list(WORDS.values())] * 2


def test_keys_are_kept_if_asked(run: Run, folder: Path) -> None:
    release(run, *EXACT, "-o", "out.csv", "--keep-keys")
    header, rows = read_csv((folder / "out.csv").read_text())
    assert header == ["who", "time", "place"]
    assert words_of(rows) == WORDS
    record = (folder / "out.json").read_text()
    assert not any(key in record for key in WORDS)


def test_records_with_the_words_in_them(run: Run, folder: Path) -> None:
    release(run, *EXACT, "-o", "out.json")
    record = loaded(folder / "out.json")
    assert sorted("".join(word) for word in batch(record)) == sorted(IN_ORDER)
    assert (record.epsilon, record.delta, record.reproducible) == (400.0, 0.0, False)
    assert not (folder / "out.csv").exists()
    assert not any(key in (folder / "out.json").read_text() for key in WORDS)


def test_records_do_not_say_whose_is_whose(run: Run, folder: Path) -> None:
    """A seed makes it repeat. In the order of the keys, who knows those would know whose is whose."""
    release(run, *EXACT, "-o", "out.json", "--seed", "1")
    assert ["".join(word) for word in batch(loaded(folder / "out.json"))] != IN_ORDER


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_the_page_does_not_say_whose_is_whose(run: Run, folder: Path) -> None:
    release(run, *EXACT, "-o", "out.csv", "--report", "out.html", "--seed", "1")
    page = (folder / "out.html").read_text(encoding="utf-8")
    shown = re.findall(r'<td>\d+</td><td class="left">([^<]*)</td>', page)
    assert len(shown) == 5
    assert shown != [" → ".join(word) for word in IN_ORDER[:5]]


def test_keys_cannot_be_kept_in_a_record(run: Run) -> None:
    done = run("release", "words", *EXACT, "-o", "out.json", "--keep-keys")
    assert done.code == 2
    assert "--keep-keys" in done.err


# What is asked for


@pytest.mark.slow
def test_several_words_a_person(run: Run, folder: Path) -> None:
    trips = ("trips.csv", "--by", "who,trip", *LOG[2:], *ROADS, "-e", "6", "-m", "sequential")
    done = refused(run, *trips, code=4, says="--words-each: expected at most 1 words for each who")
    assert "Ida" not in done.err
    assert "3" not in done.err
    refused(run, *trips, "--words-each", "2", code=4, says="found someone with more. Nothing was released.")
    done = release(run, *trips, "--words-each", "3", "-o", "out.csv")
    assert "up to 3 words of one person differ in one symbol each" in done.out
    record = loaded(folder / "out.json")
    assert record.epsilon == 6.0
    assert record.adjacency == veil.words.Hamming(1, words_each=3)
    assert record.mechanism.mechanism.epsilon == 2.0
    assert "no person has more than 3 words" in record.assumptions
    header, rows = read_csv((folder / "out.csv").read_text())
    # One number a word: which words are of one person is not said.
    assert header == ["trip", "time", "place"]
    assert sorted(map(len, words_of(rows).values())) == [2, 2, 3, 3]
    release(run, *trips, "--words-each", "3", "-o", "kept.csv", "--keep-keys")
    header, rows = read_csv((folder / "kept.csv").read_text())
    assert header == ["who", "trip", "time", "place"]
    assert {(who, trip) for who, trip, *_ in rows} == {("Ida", "0"), ("Ida", "1"), ("Jon", "2"), ("Ida", "3")}


def test_words_each_needs_two_keys(run: Run) -> None:
    refused(run, *QUICK, "--words-each", "2", code=2, says="--words-each: expected two columns --by with it")


def test_lines_of_symbols(run: Run, folder: Path) -> None:
    exact = ("--sequences", *ROADS, "-e", "400", "-m", "sequential", "-o")
    release(run, "lines.txt", "--skip", "1", *exact, "lines.csv")
    header, rows = read_csv((folder / "lines.csv").read_text())
    assert header == ["sequence", "place", "state"]
    assert sorted(words_of(rows).values()) == sorted(IN_ORDER)
    (folder / "bars.txt").write_text("a|b|c\nb|a\n")
    release(run, "bars.txt", "--separator", "|", *exact, "bars.csv")
    assert sorted(words_of(read_csv((folder / "bars.csv").read_text())[1]).values()) == ["abc", "ba"]
    refused(run, *QUICK, "--skip", "1", code=2, says="--sequences: expected it with --skip or --separator")
    refused(
        run, "lines.txt", "--sequences", "--by", "who", "-e", "1", code=2, says="--by: expected none for a"
    )


@pytest.mark.slow
def test_symbols_without_a_chain(run: Run, folder: Path) -> None:
    (folder / "symbols.csv").write_text("place\na\nb\nc\nd\n")
    free = ("log.csv", *LOG, "-e", "3", "-o")
    for text, name in (("a,b,c,d", "list.json"), ("symbols.csv", "file.json")):
        release(run, *free, name, "--symbols", text)
        record = loaded(folder / name)
        assert record.domain == veil.words.FreeWords("abcd", 4)
        assert record.assumptions == (LENGTHS_ARE_PUBLIC, ONE_WORD_EACH, LAYOUT_IS_PUBLIC)
    release(run, *free, "found.json")
    record = loaded(folder / "found.json")
    assert record.domain == veil.words.FreeWords("abc", 4)
    assert STATES_ARE_PUBLIC in record.assumptions
    refused(run, *free, "x.json", "--symbols", "a,b", code=4, says="place: expected one of the 2 states")
    refused(run, *free, "x.json", "--symbols", "none.csv", code=4, says="none.csv: expected a file")
    refused(run, *QUICK, "--symbols", "a,b,c", code=2, says="--symbols: expected none with --chain")


def test_a_comma_too_many_in_symbols(run: Run) -> None:
    refused(run, "log.csv", *LOG, "-e", "3", "--symbols", "a,,b", code=2, says="--symbols: expected labels")


@pytest.mark.slow
def test_starts(run: Run, folder: Path) -> None:
    (folder / "home.csv").write_text(log_text({"Zora": "bac", "Yves": "cc"}))
    home = ("home.csv", *QUICK[1:], "--start")
    release(run, *home, "a", "-o", "out.json")
    record = loaded(folder / "out.json")
    assert record.domain.start == "a"
    assert all(word[0] in "bc" for word in batch(record))
    refused(run, *home, "q", code=2, says="--start: expected a state of the chain, found 'q'.")
    refused(run, *QUICK, "--start", "a", code=4, says="position 1: expected a first symbol")
    refused(run, "log.csv", *LOG, "-e", "1", "--start", "a", code=2, says="--start: expected --chain with it")


@pytest.mark.slow
def test_the_longest_word_is_public(run: Run, folder: Path) -> None:
    release(run, *QUICK, "--longest", "9", "-o", "out.json")
    assert loaded(folder / "out.json").domain.length == 9
    refused(
        run, *QUICK, "--longest", "3", code=4, says="--longest: expected words of at most 3 symbols, found a"
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    quick_first(
        [
            ("exponential", "ExponentialWords"),
            ("balanced", "BalancedWords"),
            ("sequential", "SequentialWords"),
            ("permute-and-flip", "PermuteAndFlip"),
            ("generic", "ExponentialWords"),
        ]
    ),
)
def test_mechanisms(run: Run, folder: Path, name: str, kind: str) -> None:
    done = release(run, "log.csv", *LOG, *ROADS, "-e", "2", "-m", name, "--radius", "2", "-o", "out.json")
    assert f"Mechanism: {name}.\n" in done.out
    record = loaded(folder / "out.json")
    assert record.mechanism.mechanism.name == kind
    assert record.epsilon == 2.0
    assert record.adjacency == veil.words.Hamming(2)
    assert sorted(map(len, batch(record))) == sorted(map(len, IN_ORDER))
    assert all(is_feasible("".join(word)) for word in batch(record))
    assert run("inspect", "out.json", "--json").json["verified"] is True


@pytest.mark.slow
def test_staircases_are_for_free_words(run: Run, folder: Path) -> None:
    free = ("log.csv", *LOG, "-e", "2", "-m", "staircase", "--symbols", "a,b,c", "-b", "2")
    release(run, *free, "-o", "out.json")
    assert loaded(folder / "out.json").mechanism.mechanism.name == "StaircaseWords"
    refused(run, *but(QUICK, m="staircase"), code=2, says="language: expected FreeWords, found ChainWords")


@pytest.mark.slow
def test_the_best_is_taken_and_said(run: Run) -> None:
    done = release(run, "log.csv", *LOG, *ROADS, "-e", "4", "--radius", "2")
    said = re.search(r"Mechanism: exponential, the least expected error \((.*) for others\)", done.out)
    assert said is not None
    best = re.search(r"To be expected: ([\d.e-]+) of 4 symbols wrong, on made-up words", done.out)
    assert best is not None
    others = dict(part.split(" ") for part in said[1].split(", "))
    assert set(others) == {"sequential", "permute-and-flip"}
    assert all(float(error) >= float(best[1]) for error in others.values())
    little = release(run, "log.csv", *LOG, *ROADS, "-e", "0.01", "-b", "2")
    assert "More than half of the symbols will be wrong" in little.out
    assert "More than half" not in done.out


# Chains


def write_model(folder: Path) -> None:
    """A released chain with a little of everything: b -> b is as good as never."""
    counts = veil.chains.TransitionCounts(
        [[10, 4000, 4000], [4000, 10, 4000], [3000, 3000, 3000]], ["a", "b", "c"]
    )
    veil.chains.release(counts, epsilon=50.0, rng=1).save(folder / "model.json")


@pytest.mark.slow
def test_a_released_model_as_the_chain(run: Run, folder: Path) -> None:
    write_model(folder)
    model = ("log.csv", *LOG, "--chain", "model.json", "-e", "4", "-m", "sequential", "-o")
    release(run, *model, "all.json")
    assert sum(map(len, loaded(folder / "all.json").domain.successors)) == 9
    release(run, *model, "some.json", "--least", "0.01")
    assert loaded(folder / "some.json").domain.successors == ((1, 2), (0, 2), (0, 1, 2))
    # Words themselves are no chain.
    refused(run, *but(QUICK, chain="all.json"), code=4, says="all.json: expected")


@pytest.mark.slow
def test_a_matrix_as_the_chain(run: Run, folder: Path) -> None:
    (folder / "matrix.csv").write_text("from,a,b,c\na,0,0.5,0.5\nb,0.75,0,0.25\nc,0.2,0.3,0.5\n")
    matrix = (*but(QUICK, chain="matrix.csv"), "-o", "out.json", "--force")
    release(run, *matrix)
    assert loaded(folder / "out.json").domain.successors == ((1, 2), (0, 2), (0, 1, 2))
    # What is as probable as that stays.
    release(run, *matrix, "--least", "0.2")
    assert loaded(folder / "out.json").domain.successors == ((1, 2), (0, 2), (0, 1, 2))
    done = refused(run, *matrix[:-3], "--least", "0.26", code=4, says="position ")
    assert "expected a symbol that may follow the one before it" in done.err
    refused(run, *matrix[:-3], "--least", "0.9", code=4, says="matrix.csv: expected a transition that is")


def test_the_help_says_what_least_leaves_out(run: Run) -> None:
    text = re.sub(r"\s+", " ", run("release", "words", "--help").out)
    assert "transitions of this probability or less are not" not in text


@pytest.mark.parametrize("chain", [ROADS, ()], ids=["a list without probabilities", "no chain"])
def test_least_needs_probabilities(run: Run, chain: tuple[str, ...]) -> None:
    done = run("release", "words", "log.csv", *LOG, *chain, "-e", "3", "-m", "exponential", "--least", "0.5")
    assert done.code in (2, 4)


@pytest.mark.slow
def test_too_large_a_least_leaves_no_path(run: Run, folder: Path) -> None:
    """An allowed transition remains, but no path as long as the words."""
    (folder / "weights.csv").write_text("from,to,probability\na,b,0.9\nb,a,0.1\nb,c,0.9\nc,a,0.1\nc,c,0.9\n")
    (folder / "one.csv").write_text("from,to,probability\na,b,0.9\nb,a,0.1\nb,c,0.1\nc,a,0.1\n")
    release(run, "log.csv", *LOG, "--chain", "small.csv", "-e", "9", "-m", "exponential")
    (folder / "few.csv").write_text(log_text({"Zora": "abab", "Yves": "bab"}))
    few = ("few.csv", *LOG, "-e", "4", "-m", "sequential")
    release(run, *few, "--chain", "weights.csv")
    refused(run, *few, "--chain", "one.csv", "--least", "0.5", code=2, says="--chain: expected a path of 4")


@pytest.mark.slow
def test_wrong_chains(run: Run, folder: Path) -> None:
    for name, text, says in (
        ("column.csv", "from\na\n", "expected a square matrix, or two columns of states, found 1 column"),
        ("void.csv", "", "expected allowed transitions, found an empty file"),
        ("broken.json", "{", "expected JSON"),
        ("chain.xyz", "a", "expected a file of a known kind"),
    ):
        (folder / name).write_text(text)
        refused(run, *but(QUICK, chain=name), code=4, says=f"{name}: {says}")
    refused(run, *but(QUICK, chain="lost.csv"), code=4, says="lost.csv: expected a file, found no such file")


# Words that are wrong: where, not what


def test_infeasible_words_name_the_place_alone(run: Run, folder: Path) -> None:
    (folder / "bad.csv").write_text(log_text(WORDS | {"Ugo": "baacc"}))
    done = refused(run, "bad.csv", *QUICK[1:], code=4, says="position 3: expected a symbol that may follow")
    assert re.match(r"veil: word \d, position 3: ", done.err)
    assert "Ugo" not in done.err
    assert not re.search(r"'[abc]'|\bb\b|\bc\b", done.err)


@pytest.mark.parametrize("seed", ["1", "2"])
def test_infeasible_words_are_numbered_in_the_order_of_their_keys(run: Run, folder: Path, seed: str) -> None:
    """As a symbol that is not on the list is. A seed makes it repeat; both say the same."""
    (folder / "bad.csv").write_text(log_text(WORDS | {"Ugo": "baacc"}))
    done = run("release", "words", "bad.csv", *QUICK[1:], "--seed", seed)
    assert "word 3, position 3: " in done.err


def test_unknown_states_are_not_shown(run: Run, folder: Path) -> None:
    text = log_text(WORDS).replace("Ugo,1,a", "Ugo,1,the clinic")
    (folder / "bad.csv").write_text(text)
    done = refused(run, "bad.csv", *QUICK[1:], code=4, says="found that 1 word has another, the first word 3")
    assert "at position 2" in done.err
    assert "clinic" not in done.err
    assert "Ugo" not in done.err


@pytest.mark.parametrize("row", quick_first(["Ugo,1,", ",1,a", "Ugo,,a"]))
def test_rows_without_a_cell(run: Run, folder: Path, row: str) -> None:
    (folder / "gaps.csv").write_text(log_text(WORDS) + row + "\n")
    done = refused(run, "gaps.csv", *QUICK[1:], code=4, says="expected a value in every row, found 1 row")
    assert "Ugo" not in done.err


@pytest.mark.slow
def test_wrong_tables(run: Run, folder: Path) -> None:
    refused(run, "lost.csv", *QUICK[1:], code=4, says="lost.csv: expected a file, found no such file.")
    done = refused(
        run, "log.csv", *LOG[:4], "--state", "plac", *ROADS, "-e", "1", code=4, says="Did you mean 'place'?"
    )
    assert "--state: expected a column 'plac'" in done.err
    refused(run, "log.csv", *LOG[2:], *ROADS, "-e", "1", code=2, says="--by: expected the name of a column")
    (folder / "empty.csv").write_text("who,time,place\n")
    refused(run, "empty.csv", *QUICK[1:], code=4, says="expected a table with rows, found none.")


# Wrong use


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("-o", "out.txt"), "--output: expected a name that ends in .json or .csv"),
        (("--report", "out.pdf"), "--report: expected a name that ends in .html"),
        (("-o", "log.csv"), "--output: expected a file of its own, found log.csv, which is the input."),
        (("-o", "small.csv"), "--output: expected a file of its own, found small.csv, which is the input."),
        (("-o", "nowhere/out.csv"), "--output: expected an existing folder, found no folder nowhere."),
    ],
)
def test_wrong_options(run: Run, options: tuple[str, ...], says: str) -> None:
    refused(run, *QUICK, *options, code=2, says=says)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"m": "laplace"}, "--mechanism: expected 'auto' or 'balanced'"),
        ({"e": "0"}, "epsilon: expected a positive number, found 0.0."),
        ({"e": "nan"}, "epsilon: expected a positive number"),
    ],
)
def test_wrong_values(run: Run, changes: dict[str, str], says: str) -> None:
    refused(run, *but(QUICK, **changes), code=2, says=says)


@pytest.mark.parametrize(
    "options",
    [("--radius", "0"), ("--words-each", "0"), ("--longest", "0"), ("--least", "-1"), ("--seed", "x")],
)
def test_numbers_out_of_range(run: Run, options: tuple[str, str]) -> None:
    done = run("release", "words", *QUICK, *options)
    assert done.code == 2
    assert options[0] in done.err


def test_an_epsilon_beyond_what_words_take(run: Run) -> None:
    done = run("release", "words", "log.csv", *LOG, *ROADS, "-e", "5000")
    assert done.code == 2
    assert done.err.startswith("veil: --epsilon: expected a positive number between")


def test_packed_files_of_another_kind(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Job, "run", _never)
    refused(run, *QUICK, "-o", "out.gz", code=2, says="--output: expected a name that ends in")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_folders_that_take_no_files(run: Run, folder: Path) -> None:
    (folder / "closed").mkdir(mode=0o500)
    refused(run, *QUICK, "-o", "closed/out.csv", code=2, says="--output: expected a folder that can be")


def test_folders_that_take_no_files_are_noticed_before_the_draw(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Job, "run", _never)
    monkeypatch.setattr("veil.cli.output_files.tempfile.TemporaryFile", _closed)
    refused(run, *QUICK, "-o", "out.csv", code=2, says="--output: expected a folder that can be written to")


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_files_that_are_there_stay(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release(run, *QUICK, "-o", "out.csv", "--report", "out.html")
    kept = {name: (folder / name).read_bytes() for name in ("out.csv", "out.json", "out.html")}
    with monkeypatch.context() as patch:
        patch.setattr(Job, "run", _never)
        refused(run, *QUICK, "-o", "out.csv", code=2, says="--output: expected a new file")
        refused(run, *QUICK, "--report", "out.html", code=2, says="Add --force to overwrite it.")
        # The record is in the way of a table with another ending.
        refused(run, *QUICK, "-o", "out.parquet", code=2, says="the record beside --output: expected a new")
    assert kept == {name: (folder / name).read_bytes() for name in kept}
    release(run, *but(QUICK, e="3"), "-o", "out.csv", "--report", "out.html", "--force")
    assert loaded(folder / "out.json").epsilon == 3.0
    assert run("inspect", "out.json").code == 0


def test_releasing_again_is_warned_of(run: Run) -> None:
    release(run, *QUICK, "-o", "out.csv")
    assert "WARNING: a release is overwritten" in release(run, *QUICK, "-o", "out.csv", "--force").out


# What is kept and said


def test_dry_runs_draw_and_write_nothing(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Job, "run", _never)
    before = sorted(folder.iterdir())
    command = (*QUICK, "-o", "x.csv", "--report", "x.html", "--dry-run")
    done = release(run, *command)
    assert "Would be charged: epsilon = 4, delta = 0. Nothing was drawn or written." in done.out
    machine = release(run, *command, "--json").json
    assert machine["dry_run"] is True
    assert machine["charge"] == {"epsilon": 4.0, "delta": 0.0}
    assert machine["mechanism"]["parameters"]["mechanism"]["name"] == "SequentialWords"
    assert machine["assumptions"] == [FEASIBLE_IS_PUBLIC, LENGTHS_ARE_PUBLIC, ONE_WORD_EACH, LAYOUT_IS_PUBLIC]
    assert sorted(folder.iterdir()) == before


def test_dry_runs_name_the_mechanism(run: Run) -> None:
    assert re.search("Mechanism: (sequential|SequentialWords)", release(run, *QUICK, "--dry-run").out)


def test_dry_runs_say_all_that_is_assumed(run: Run) -> None:
    free = ("log.csv", *LOG, "-e", "1", "--json")
    assert release(run, *free, "--dry-run").json["assumptions"] == release(run, *free).json["assumptions"]


@pytest.mark.slow
@pytest.mark.usefixtures("some_pictures")
def test_json_is_one_document(run: Run, folder: Path) -> None:
    """The record as it was written, which does not hold the words that are in the table beside it."""
    done = release(run, *QUICK, "-o", "x.csv", "--report", "x.html", "--json")
    assert done.err == ""
    record = json.loads((folder / "x.json").read_text())
    beside = {"written": ["x.csv", "x.json", "x.html"], "knowing_nothing": done.json["knowing_nothing"]}
    assert done.json == record | beside
    assert (record["privacy"]["epsilon"], record["privacy"]["delta"]) == (4.0, 0.0)
    adjacency = {key: item for key, item in record["adjacency"].items() if key != "words"}
    assert adjacency == {"name": "Hamming", "radius": 1, "words_each": 1}
    assert record["mechanism"]["parameters"]["mechanism"]["name"] == "SequentialWords"
    assert record["value"] == {"type": "words", "words": 8, "lengths": {"2": 2, "3": 3, "4": 3}}
    assert record["assumptions"] == [FEASIBLE_IS_PUBLIC, LENGTHS_ARE_PUBLIC, ONE_WORD_EACH, LAYOUT_IS_PUBLIC]
    assert record["reproducible"] is False


def test_json_without_an_output_has_the_words(run: Run) -> None:
    assert sorted(map("".join, release(run, *EXACT, "--json").json["value"]["data"])) == sorted(IN_ORDER)


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_seeds(run: Run, folder: Path) -> None:
    command = ("log.csv", *LOG, *ROADS, "-e", "0.1", "-m", "sequential")
    texts = []
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        done = release(run, *command, "--seed", seed, "-o", f"{name}.csv", "--report", f"{name}.html")
        assert "NOT PRIVATE: drawn from a seed." in done.out
        assert loaded(folder / f"{name}.json").reproducible is True
        assert "<b>Not private.</b>" in (folder / f"{name}.html").read_text(encoding="utf-8")
        assert f'"seed": {seed}' not in (folder / f"{name}.json").read_text()
        texts.append((folder / f"{name}.csv").read_text())
    assert texts[0] == texts[1] != texts[2]
    done = release(run, *command)
    assert "NOT PRIVATE" not in done.out
    assert "Not saved: add -o FILE.csv to keep it." in done.out
    assert release(run, *command, "--seed", "3", "--json").json["reproducible"] is True


def test_the_terminal_names_nobody(run: Run) -> None:
    done = release(run, *QUICK)
    assert "8 words of 2 to 4 symbols." in done.out
    assert "epsilon = 4, delta = 0" in done.out
    for text in (FEASIBLE_IS_PUBLIC, LENGTHS_ARE_PUBLIC, ONE_WORD_EACH):
        assert f"This holds only if {text}." in done.out
    assert not any(key in done.out for key in WORDS)


# Reports


LONG = {who: "abcabcacbcabcb"[i:] + "cabcabcacbcabcb"[:i] for i, who in enumerate(WORDS)}
SHORT = {who: "abcabcacb"[i:] + "cabcabcac"[:i] for i, who in enumerate(WORDS)}


@pytest.mark.slow
@pytest.mark.usefixtures("some_pictures")
@pytest.mark.parametrize("words", quick_first([SHORT, LONG]), ids=["9", "14"])
def test_reports_hold_neither_words_nor_keys(run: Run, folder: Path, words: dict[str, str]) -> None:
    """At this seed no word comes out as it went in."""
    (folder / "long.csv").write_text(log_text(words))
    options = ("-e", "2", "-b", "2", "--seed", "5", "--report", "x.html")
    done = release(run, "long.csv", *LOG, *ROADS, *options, "-m", "sequential", "-o", "x.json")
    page = (folder / "x.html").read_text(encoding="utf-8")
    for text in (page, done.out, (folder / "x.json").read_text()):
        assert not any(key in text for key in words)
    private = ["".join(word) for word in batch(loaded(folder / "x.json"))]
    assert not set(private) & set(words.values())
    for word in words.values():
        assert " → ".join(word) not in page
    # Power: the words that came out are found in just that way.
    assert " → ".join(private[0]) in page
    # Made from the record alone: so nothing of the table is in it.
    record = loaded(folder / "x.json")
    assert WordReport.of(record, veil.words.batch(record)).html() == page
    assert run("inspect", "x.json", "--report", "again.html").code == 0
    assert (folder / "again.html").read_text(encoding="utf-8") == page


@pytest.mark.usefixtures("some_pictures")
def test_reports_need_no_other_output(run: Run, folder: Path) -> None:
    done = release(run, "log.csv", *LOG, "-e", "3", "--report", "x.html")
    assert done.out.endswith("Written: x.html\n")
    page = (folder / "x.html").read_text(encoding="utf-8")
    assert "the list of states is public" in page
    # Nothing is fetched from elsewhere.
    assert not re.search(r"""(src|href)=["'](?!#)""", page)


@pytest.mark.usefixtures("no_pictures")
def test_labels_are_escaped(run: Run, folder: Path) -> None:
    evil = "<script>alert(1)</script>"
    (folder / "evil.csv").write_text(f"who,time,place\nu,1,{evil}\nu,2,[red]b[/red]\n")
    done = release(run, "evil.csv", *LOG, "-e", "400", "--report", "x.html")
    page = (folder / "x.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "[red]b[/red]" in done.out


# Inspection


def test_inspection(run: Run, folder: Path) -> None:
    release(run, *QUICK, "-o", "out.csv")
    seen = run("inspect", "out.json")
    assert seen.code == 0
    assert "8 words in out.csv." in seen.out
    assert "Checked: the mechanism as described has epsilon = 4 at this delta." in seen.out
    machine = run("inspect", "out.json", "--json").json
    assert machine["verified"] is True
    assert machine["words"] == 8
    assert machine["table_is_the_one_written"] is True
    text = (folder / "out.csv").read_text()
    (folder / "out.csv").write_text(text + "9,1,a\n")
    seen = run("inspect", "out.json")
    assert seen.code == 4
    assert "The table out.csv beside it is NOT the one that was written." in seen.out
    assert run("inspect", "out.json", "--json").json["table_is_the_one_written"] is False
    (folder / "out.csv").unlink()
    alone = run("inspect", "out.json", "--json")
    assert alone.code == 0
    assert "table_is_the_one_written" not in alone.json


def test_records_that_promise_too_much(run: Run, folder: Path) -> None:
    release(run, *QUICK, "-o", "out.json")
    record = json.loads((folder / "out.json").read_text())
    record["privacy"]["epsilon"] = 1.0
    (folder / "low.json").write_text(json.dumps(record))
    assert run("inspect", "low.json").code == 4
    record = json.loads((folder / "out.json").read_text())
    record["assumptions"] = []
    (folder / "silent.json").write_text(json.dumps(record))
    done = run("inspect", "silent.json", "--json")
    assert done.code == 4
    assert set(done.json["assumptions_left_out"]) == {FEASIBLE_IS_PUBLIC, LENGTHS_ARE_PUBLIC, ONE_WORD_EACH}
    record = json.loads((folder / "out.json").read_text())
    record["value"]["data"][0] = ["a", "a"]
    (folder / "other.json").write_text(json.dumps(record))
    assert run("inspect", "other.json").code == 4


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_the_page_of_words_in_a_table(run: Run) -> None:
    release(run, *QUICK, "-o", "out.csv")
    assert run("inspect", "out.json", "--report", "out.html").code == 0


# Plans


@pytest.mark.slow
def test_plans(run: Run) -> None:
    done = run("plan", "words", *ROADS, "-n", "4", "-e", "2", "-b", "2")
    assert done.code == 0, done.err
    assert "Paths of 4 states over 3 states with 7 allowed steps, from anywhere; epsilon = 2." in done.out
    assert "Hidden: 2 symbols of a word." in done.out
    assert "no data was read." in done.out
    names = "exponential|sequential|permute-and-flip|generic"
    rows = re.findall(rf"^({names}) +([\d.]+)", done.out, re.MULTILINE)
    errors = [float(error) for _, error in rows]
    assert len(rows) == 4
    assert errors == sorted(errors)
    machine = run("plan", "words", *ROADS, "-n", "4", "-e", "2", "-b", "2", "--start", "a", "--json")
    assert machine.json["language"].endswith("from a fixed, public start")
    assert {row["name"] for row in machine.json["mechanisms"]} == {name for name, _ in rows}
    assert all(row["certified_epsilon"] <= 2.0 for row in machine.json["mechanisms"])


@pytest.mark.slow
def test_plans_are_drawn(run: Run, folder: Path) -> None:
    done = run("plan", "words", *ROADS, "-n", "4", "-e", "2", "-b", "2", "--plot", "errors.svg")
    assert done.code == 0, done.err
    assert "Drawn: errors.svg" in done.out
    assert "<svg" in (folder / "errors.svg").read_text()


def test_plans_for_free_words(run: Run, folder: Path) -> None:
    assert (
        "All words of 10 symbols over 17"
        in run("plan", "words", "--symbols", "17", "-n", "10", "-e", "2").out
    )
    listed = run("plan", "words", "--symbols", "a,b", "-n", "10", "-e", "2", "--json")
    assert listed.json["language"] == "all words of 10 symbols over 2"
    (folder / "symbols.csv").write_text("a\nb\nc\n")
    listed = run("plan", "words", "--symbols", "symbols.csv", "-n", "10", "-e", "2", "--json")
    assert listed.json["language"] == "all words of 10 symbols over 3"


def test_plans_the_other_way_round(run: Run) -> None:
    done = run("plan", "words", "--symbols", "17", "-n", "10", "--error", "1")
    assert "For 1 wrong symbol of 10: epsilon = 4.97." in done.out
    machine = run("plan", "words", "--symbols", "17", "-n", "10", "--error", "1", "--json").json
    assert 0.99 < machine["mechanisms"][0]["expected_error"] <= 1.0


@pytest.mark.slow_for("options11-2-error: no epsilon up to 100")
@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--symbols", "3"), 2, "--epsilon: expected either it or --error"),
        (("--symbols", "3", "-e", "1", "--error", "1"), 2, "--epsilon: expected either it or --error"),
        (("-e", "1"), 2, "--chain: expected one of --chain, --symbols and --language"),
        (
            ("-e", "1", "--symbols", "3", *ROADS),
            2,
            "--chain: expected one of --chain, --symbols and --language",
        ),
        (("-e", "1", "--symbols", "1"), 2, "symbols: expected a whole number of at least 2, found 1."),
        (("-e", "1", "--symbols", "3", "--start", "a"), 2, "--start: expected --chain with it"),
        (("-e", "1", *ROADS, "--start", "q"), 2, "--start: expected a state of the chain, found 'q'."),
        (("-e", "1", "--chain", "lost.csv"), 4, "lost.csv: expected a file, found no such file."),
        (("-e", "1", *ROADS, "--plot", "errors.txt"), 2, "--plot: expected a name that ends in .svg"),
        (("-e", "1", *ROADS, "--plot", "no/errors.svg"), 2, "--plot: expected an existing folder"),
        (("--error", "-1", "--symbols", "3"), 2, "error: expected a positive number"),
        (
            ("--error", "1e-20", *ROADS, "-b", "3"),
            2,
            "error: no epsilon up to 100",
        ),
    ],
)
def test_wrong_plans(run: Run, options: tuple[str, ...], code: int, says: str) -> None:
    done = run("plan", "words", "-n", "4", *options)
    assert done.code == code, done.err + done.out
    assert says in done.err


# The demo


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_the_demo_has_drives_and_streets(run: Run, folder: Path) -> None:
    """Its own command, but for the mechanism, which would take a while."""
    done = run("demo", "--trips", "1000")
    assert done.code == 0, done.err
    said = done.out[done.out.index("veil release words") :]
    command = said[: said.index("\nOr ")].replace("\\\n", " ").split()
    assert command[1:4] == ["release", "words", "demo/drives.csv"]
    made = run(*command[1:], "-m", "sequential", "--longest", "20", "--dry-run")
    assert made.code == 0, made.err
    assert "Would be charged: epsilon = 5" in made.out
    assert run("demo", "--trips", "1000").code == 2
