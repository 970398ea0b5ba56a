"""Release files and ledgers that version 0.1 wrote still load, say the same, and verify."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import veil
from veil.cli.app import main
from veil.core.files import to_json
from veil.core.mechanism import REAL_ARITHMETIC

FOLDER = Path(__file__).parent.parent / "data" / "v0_1"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
RELEASES: dict[str, Any] = EXPECTED["releases"]
LEDGERS: dict[str, Any] = EXPECTED["ledgers"]
# What 0.1 printed and is now printed otherwise: graphs have a domain of their own, and files name their kind.
# Batches and stacks of matrices were called vectors.
MATRIX = {"BorderedRows", "MatrixDirichlet", "RowByRow"}
FLOATS = {"BorderedRows", "Dirichlet", "DirichletCounts", "Gaussian", "Laplace", "MatrixDirichlet"}
CHANGED = {"kind", "domain", "graph", "file"}


def _json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


@pytest.mark.mostly_slow(quick=25)
@pytest.mark.parametrize("name", RELEASES)
def test_a_release_file_loads_and_is_written_again(name: str, tmp_path: Path) -> None:
    expected = RELEASES[name]
    out = veil.load(FOLDER / name)
    assert (out.epsilon, out.delta) == (expected["epsilon"], expected["delta"])
    assert out.mechanism.name == expected["mechanism"]
    assert out.kind.name == ("matrix" if expected["mechanism"] in MATRIX else expected["kind"])
    assert out.records == expected["records"]
    assert {key: list(table.shape) for key, table in out.tables.items()} == expected["tables"]
    # To the letter, so that the hashes of old ledger entries still match.
    assert out.description == json.loads((FOLDER / name).read_text(encoding="utf-8"))["mechanism"]
    out.save(tmp_path / "again.json")
    again = veil.load(tmp_path / "again.json")
    assert again == out
    assert json.loads(to_json(again))["schema"] == 3


def _draws_floats(mechanism: dict[str, Any]) -> bool:
    """Whether 0.1 drew floats with it, or with a part of it."""
    parameters = mechanism["parameters"]
    inside = [part["mechanism"] for part in parameters.get("parts", [])]
    if isinstance(parameters.get("mechanism"), dict):
        inside.append(parameters["mechanism"])
    own = mechanism["name"] in FLOATS and not parameters.get("exact")
    gaussian = mechanism["name"] == "DoublyStochastic" and parameters["noise"] == "gaussian"
    return own or gaussian or any(map(_draws_floats, inside))


@pytest.mark.mostly_slow(quick=25)
@pytest.mark.parametrize("name", RELEASES)
def test_inspect_says_what_it_said(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = {key: item for key, item in RELEASES[name]["inspect"].items() if key not in CHANGED}
    code = main(["inspect", str(FOLDER / name), "--json"])
    found = {key: item for key, item in _json(capsys).items() if key not in CHANGED}
    added, computed = found.pop("added_since_it_was_written"), found.pop("computed_epsilon")
    # Version 0.1 did not set errors beside those of knowing nothing.
    assert isinstance(found.pop("knowing_nothing"), list)
    # Today's analysis may add to what 0.1 computed, and then says so; it never finds much less. Compositions
    # are cut up more finely now: by a thousandth at most.
    before = expected.pop("computed_epsilon")
    assert before * (1.0 - 1e-3) < computed < before * (1.0 + 1e-5)
    assert expected["privacy"]["epsilon"] >= computed or not expected["verified"] or added
    assert (REAL_ARITHMETIC in added) == _draws_floats(json.loads((FOLDER / name).read_text())["mechanism"])
    assert found == expected
    assert code == (0 if expected["verified"] and expected.get("table_is_the_one_written", True) else 4)


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy: a ledger is written to when it is opened."""
    name: str = request.param
    shutil.copytree(FOLDER / "ledgers" / name, tmp_path / name)
    monkeypatch.chdir(tmp_path / name)
    return name


@pytest.mark.slow_for("adjacencies", "accounts")
@pytest.mark.parametrize("ledger", LEDGERS, indirect=True)
def test_a_ledger_shows_what_it_showed(ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("ledger.db").read_bytes()
    assert main(["ledger", "show", "ledger.db", "--json"]) == 0
    listed = [_shown_today(one) for one in LEDGERS[ledger]["show"]["datasets"]]
    assert _json(capsys) == {"datasets": listed}
    for dataset, expected in LEDGERS[ledger]["show_dataset"].items():
        assert main(["ledger", "show", "ledger.db", dataset, "--json"]) == 0
        assert _json(capsys) == _shown_today(expected)
    # To look at it did not change it.
    assert Path("ledger.db").read_bytes() == before


def _shown_today(expected: dict[str, Any]) -> dict[str, Any]:
    """As 0.1 showed a dataset, in today's words."""
    entries = [
        one
        | {
            "state": one["state"].replace("spent, not confirmed", "charged, no result"),
            # Of charges 0.1 kept no reason; that of another step was all there was to say of it.
            "why": "" if one["kind"] in ("reserve", "confirm", "use") else one["what"],
            "plan": "",
        }
        for one in expected.get("entries", [])
    ]
    return expected | {"set_back": None} | ({"entries": entries} if entries else {})


def _verified_today(found: dict[str, Any]) -> dict[str, Any]:
    """As 0.1 verified a ledger. No entry is keyed; limits of filters, which are computed more closely today,
    are reported and not refused."""
    assert set(found.pop("keyed_from").values()) == {None}
    assert found.pop("authenticated") is False
    for finding in found.pop("findings"):
        assert finding.endswith(
            "limits or terms that do not follow from the budget (written by an older Veil)"
        )
        assert "zcdp" in finding or "renyi" in finding
    return found


@pytest.mark.slow_for("accounts")
@pytest.mark.parametrize("ledger", LEDGERS, indirect=True)
def test_a_ledger_verifies_with_its_releases(ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = LEDGERS[ledger]
    files = [release["file"] for release in expected["verify"]["releases"]]
    assert main(["ledger", "verify", "ledger.db", *files, "--against", "heads.json", "--json"]) == 0
    assert _verified_today(_json(capsys)) == expected["verify"]
    if "verify_export" in expected:
        assert main(["ledger", "verify", "ledger.db", "--against", "export.json", "--json"]) == 0
        assert _verified_today(_json(capsys)) == expected["verify_export"]
    if "verify_others" in expected:
        others = [release["file"] for release in expected["verify_others"]["releases"]]
        assert main(["ledger", "verify", "ledger.db", *others, "--json"]) == 4
        found = _json(capsys)
        assert [one["charged"] for one in found["releases"]] == [False] * len(others)


@pytest.mark.parametrize("ledger", ["accounts"], indirect=True)
def test_an_old_ledger_takes_new_charges(ledger: str) -> None:
    book = veil.Ledger("ledger.db")
    name = next(name for name in book.datasets() if not book.dataset(name).closed)
    dataset = book.dataset(name)
    before = len(dataset.entries())
    near = dataset.adjacency or veil.vectors.Records()
    mechanism = veil.vectors.GeometricCounts(1000.0, 3)
    if isinstance(near, veil.vectors.Records):
        veil.release(mechanism, [1, 2, 3], adjacency=near, ledger=dataset)
        assert len(dataset.entries()) == before + 2
    assert name in book.verify().datasets
