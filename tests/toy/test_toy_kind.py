"""A new kind of data is one folder and one line: everything shared works with it, unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import veil
from tests.toy.kind import NoisyTally, OneMore
from veil.cli.app import main
from veil.core.claim import claim_of
from veil.core.kind import kind_named, register, unregister
from veil.core.registry import adjacency_named


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register("tally", "tests.toy.kind:TallyKind")
    yield
    unregister("tally")


@pytest.fixture
def visitors(tmp_path: Path) -> Path:
    path = tmp_path / "visitors.txt"
    path.write_text("seen\n120\n", encoding="utf-8")
    return path


def test_it_is_released_saved_loaded_and_shown(tmp_path: Path) -> None:
    out = veil.release(NoisyTally(0.5), 120, rng=1)
    assert out.kind.name == "tally"
    assert (out.epsilon, out.delta) == (2.0, 0.0)
    out.save(tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["kind"] == "tally"
    again = veil.load(tmp_path / "out.json")
    assert again == out
    assert claim_of(again, "out.json").holds
    out.save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"number\n{out.value}\n"
    out.report(tmp_path / "out.html")
    assert str(out.value) in (tmp_path / "out.html").read_text()
    assert str(out.value) in out._repr_html_()
    assert out.plot().axes
    assert out.to_pandas().tolist() == [out.value]


def test_it_is_audited_and_a_liar_is_found() -> None:
    assert not veil.audit_suite(NoisyTally(1.0), samples=2_000, rng=1).violated

    class Liar(NoisyTally):
        def profile(self, adjacency: veil.Adjacency | None = None) -> veil.PrivacyProfile:
            return NoisyTally(20.0).profile(adjacency)

    assert veil.audit_suite(Liar(1.0), samples=20_000, rng=1).violated
    assert veil.audit(NoisyTally(1.0), 3, 4, adjacency=OneMore(), samples=2_000, rng=1).lower <= 1.0


def test_it_is_charged(tmp_path: Path) -> None:
    dataset = veil.Ledger(str(tmp_path / "budget.db")).open(
        "visits", epsilon="1.5", adjacency=adjacency_named("one-more")
    )
    out = veil.release(NoisyTally(1.0), 5, ledger=dataset)
    assert out.entry.dataset == "visits"
    with pytest.raises(veil.errors.BudgetExceeded):
        veil.release(NoisyTally(1.0), 5, ledger=dataset)


def test_the_command_line_has_it(visitors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record, page = tmp_path / "private.json", tmp_path / "private.html"
    asked = ["release", "tally", str(visitors), "--line", "2", "--epsilon", "1", "-o", str(record)]
    assert main([*asked, "--report", str(page)]) == 0
    assert "Released:" in capsys.readouterr().out
    assert page.exists()
    assert main(["plan", "tally", "--epsilon", "1"]) == 0
    assert "Mean error: 0.851" in capsys.readouterr().out
    assert main(["inspect", str(record)]) == 0
    assert "whole numbers" in capsys.readouterr().out
    assert main(["audit", str(record), "--samples", "1000"]) == 0
    assert main(["double", str(record)]) == 0
    assert "Twice as many" in capsys.readouterr().out


def test_its_help_and_its_errors_speak_of_its_fields(
    visitors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["release", "tally", "--help"]) == 0
    text = capsys.readouterr().out
    assert "--line" in text
    assert "veil release tally visitors.txt --epsilon 1 -o private.json" in text
    assert main(["release", "tally", str(visitors), "--epsilon", "1"]) == 4
    assert "a whole number" in capsys.readouterr().err
    assert main(["release", "tally", str(visitors), "--epsilon", "0"]) == 2
    assert capsys.readouterr().err.startswith("veil: --epsilon: expected a positive number")


def test_its_schema_has_no_secrets() -> None:
    schema = kind_named("tally").requests("release")[0].schema()
    assert list(schema["properties"]) == ["line"]
    assert schema["properties"]["line"]["minimum"] == 1
