"""The benchmarks' own parts: ratios, exponents, the page, small runs without peers. No time is asserted."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import __main__ as command
from bench.accuracy import composition, counts
from bench.enumeration import all_words, permute_and_flip
from bench.measure import Growth, Missing, Ratio, fitted_exponent, relative_spread
from bench.page import page, value
from bench.peers.environment import PEERS, ROOT, Environments, PeerMissing
from bench.pictures import law, times
from bench.results import Results
from bench.tasks import TASKS
from bench.work import Work
from veil.words.chain_words import ChainWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip

ALONE = Environments(wanted=())


def ratio(ours: float, theirs: float, unit: str = "errors", **more: Any) -> Ratio:
    return Ratio("Speed: nothing", "a <task>", "epsilon 1", ours, theirs, "OpenDP", unit, **more)


def test_a_ratio_says_how_many_times_better_veil_is() -> None:
    assert ratio(1.0, 4.0).ratio == 4.0
    assert ratio(1.0, 4.0, better="higher").ratio == 0.25
    assert ratio(4.0, 1.0, better="higher").ratio == 4.0
    assert ratio(0.0, 1.0).ratio == math.inf
    assert ratio(0.0, 0.0).ratio == 1.0


def test_verdicts_leave_room_for_what_was_drawn_and_timed() -> None:
    assert ratio(1.0, 1.02).verdict == "even"
    assert ratio(1.0, 1.06).verdict == "wins"
    assert ratio(1.06, 1.0).verdict == "loses"
    assert ratio(1.0, 1.06, spread=0.04).verdict == "even"
    assert ratio(1.0, 1.06, unit="seconds a draw").verdict == "even"
    assert ratio(1.0, 0.6, goal=0.5).met is True
    assert ratio(1.0, 0.4, goal=0.5).met is False
    assert ratio(1.0, 0.4).met is None


def test_exponents_are_those_of_the_upper_half() -> None:
    sizes = [10, 100, 1_000, 10_000, 100_000, 1_000_000]
    assert fitted_exponent(sizes, [3e-9 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    # A fixed cost that only the small ones feel.
    assert fitted_exponent(sizes, [1e-3 + 1e-6 * n for n in sizes]) == pytest.approx(1.0, abs=0.05)
    assert math.isnan(fitted_exponent([10], [1.0]))
    assert math.isnan(fitted_exponent([], []))
    lengths = [4, 5, 6, 7, 8, 9]
    growth = Growth(
        "words", "length", sizes, sizes, "a list", lengths, [4.0**n for n in lengths], "exponential"
    )
    assert growth.exponent == pytest.approx(1.0)
    assert growth.peer_exponent == pytest.approx(4.0)
    assert law(growth, peer=True) == "× 4 for each more"
    assert law(growth) == "size^1.00"


def test_the_spread_of_a_ratio_is_that_of_its_means() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.normal(10.0, 1.0, 400), rng.normal(5.0, 1.0, 100)
    assert relative_spread(one, other) == pytest.approx(math.hypot(0.1 / 20, 0.2 / 10), rel=0.2)


def results() -> Results:
    growth = Growth("counting", "records N", [1, 10, 100], [1.0, 10.0, 100.0], "pandas", [1, 10], [2.0, 20.0])
    return Results(
        quick=True,
        ratios=[ratio(1.0, 8.0, unit="seconds"), ratio(3.0, 1.0, goal=0.5, note="a note"), ratio(0.0, 1.0)],
        growths=[growth, Growth("alone", "nodes", [1, 2, 4], [1.0, 2.0, 4.0])],
        missing=[Missing("Speed: nothing", "a row", "quantecon", "could not be installed: no <network>")],
        seconds={"speed.nothing": 1.5},
    )


def test_results_survive_json() -> None:
    found = results()
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert Results.from_dict(json.loads(text)) == found
    assert json.loads(text)["ratios"][2]["ratio"] == {"endless": "inf"}


@pytest.mark.slow
def test_the_page_shows_a_loss_and_a_missing_peer(tmp_path: Path) -> None:
    found = results()
    found.write(tmp_path)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Where a peer is better" in text
    assert "0.33×" in text
    assert "goal 0.50×: missed" in text
    assert "a &lt;task&gt;" in text
    assert "no &lt;network&gt;" in text
    assert text.count("<svg") == 2
    assert str(Path.home()) not in text
    assert not re.search(r"(src|href)=.https?://", text)
    empty = page(Results(quick=False))
    assert "Where a peer is better" not in empty


def test_numbers_read_well() -> None:
    assert [times(number) for number in (0.17, 1.0, 7.24, 171.2, 39_934.0)] == [
        "0.17×",
        "1.00×",
        "7.24×",
        "171×",
        "40,000×",
    ]
    assert [value(number, "seconds") for number in (142.6, 0.5, 2.5e-5, 4.4e-8)] == [
        "143 s",
        "500 ms",
        "25 µs",
        "44 ns",
    ]
    assert value(0.04844, "total variation") == "0.0484"


@pytest.mark.slow
def test_counts_at_equal_privacy_without_peers() -> None:
    work = Work(quick=True, peers=ALONE, group="accuracy.counts")
    assert work.ask("opendp", "noise", "grades") is None
    assert work.missing == [Missing("accuracy.counts", "grades", "opendp", "was left out of this run")]
    name, errors = counts.error_of_auto(counts.GRADES, 200)
    assert name in ("geometric", "dirichlet", "discrete-gaussian")
    # Noise of scale 2 on each of 98 records' five counts.
    assert 0.03 < errors.mean() < 0.07
    assert sum(counts.zipf_counts()) == counts.RECORDS
    assert counts.vectors([[-1, -2], [3, -1]]).tolist() == [[0.5, 0.5], [1.0, 0.0]]


def test_composition_beats_adding_up_without_peers() -> None:
    for profile, each in composition.profiles().values():
        assert profile.repeat(100).epsilon(composition.DELTA) < 100 * each


def test_enumeration_is_the_same_mechanism() -> None:
    followers = [[0, 1, 2], [0, 2], [1, 2]]
    words = all_words(followers, 0, 4)
    language = ChainWords(dict(enumerate(followers)), 4, start=0)
    assert sorted(map(tuple, words.tolist())) == sorted(map(tuple, language.enumerate().rows.tolist()))
    rng, true = np.random.default_rng(1), np.array([0, 1, 2, 2])
    drawn = [int((permute_and_flip(rng, words, true, 2.0) != true).sum()) for _ in range(4_000)]
    expected = PermuteAndFlip(language, 2.0).expected_error(true.tolist())
    assert np.mean(drawn) == pytest.approx(expected, abs=5.0 * float(np.std(drawn)) / math.sqrt(len(drawn)))


def test_every_peer_has_a_list_with_hashes_and_scripts() -> None:
    for peer in PEERS:
        text = (ROOT / "requirements" / "peers" / f"{peer}.txt").read_text(encoding="utf-8")
        assert f"{peer}==" in text
        assert text.count("--hash=sha256:") >= len(re.findall(r"^[a-z0-9-]+==", text, re.MULTILINE))
        assert "http" not in text
        assert list((ROOT / "bench" / "peers" / "scripts").glob(f"*_{peer.replace('-', '_')}.py"))


def test_a_peer_that_cannot_be_installed_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    environments = Environments(folder=tmp_path / "file" / "below", wanted=("opendp",), tell=said.append)
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(PeerMissing, match="could not be installed"):
            environments.python("opendp")
    assert len(said) == 1


@pytest.mark.slow
def test_the_command_runs_one_task_without_peers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left_out = [word for peer in PEERS for word in ("--without", peer)]
    code = command.main(["speed.exactness", "growth.entries", "--quick", *left_out, "-o", str(tmp_path)])
    assert code == 0
    found = Results.from_dict(json.loads((tmp_path / "results.json").read_text(encoding="utf-8")))
    assert len(found.ratios) == 2
    assert [growth.axis for growth in found.growths] == ["entries n"]
    assert "[2/2] growth.entries" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["no-such-benchmark"])


def test_names_are_known_once() -> None:
    names = [*(task.name for task in TASKS), *command.PRINTING]
    assert len(set(names)) == len(names)
    for name in command.PRINTING:
        assert (ROOT / "bench" / f"{name}.py").is_file()
