"""veil ledger: keys, anchors, backups, restores and roles, and results that are bound to their charge."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from veil.ledger.ledger import Ledger

VECTOR = ("release", "vector", "grades.csv", "--epsilon", "0.1")
CHARGED = ("--ledger", "budget.db", "--dataset", "grades")


@pytest.fixture
def budget(run: Run, folder: Path) -> str:
    (folder / "grades.csv").write_text("grade,students\nA,31\nB,28\nC,39\n")
    assert run("ledger", "open", "budget.db", "grades", "--epsilon", "1").code == 0
    return "budget.db"


@pytest.mark.slow
def test_two_results_cannot_name_one_entry(run: Run, budget: str) -> None:
    assert run(*VECTOR, *CHARGED, "-o", "private.json").code == 0
    content = json.loads(Path("private.json").read_text())
    assert run("ledger", "verify", budget, "private.json").code == 0
    # Formatting is none of the result.
    Path("compact.json").write_text(json.dumps(content))
    assert run("ledger", "verify", budget, "compact.json").code == 0
    content["value"]["data"] = content["value"]["data"][::-1]
    Path("other.json").write_text(json.dumps(content))
    done = run("ledger", "verify", budget, "other.json")
    assert done.code == 4
    assert "NOT CHARGED AS IT SAYS: found another result than was released as grades/2" in done.out


@pytest.mark.slow
def test_keys(run: Run, budget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("ledger", "new-key", "ledger.key")
    assert (made.code, Path("ledger.key").stat().st_mode & 0o777) == (0, 0o600)
    secret = Path("ledger.key").read_text().strip()
    assert secret not in made.out
    assert run("ledger", "new-key", "ledger.key").code == 2
    assert "not keyed" in run("ledger", "verify", budget).out
    monkeypatch.setenv("VEIL_LEDGER_KEY", "file:ledger.key")
    refused = run(*VECTOR, *CHARGED, "-o", "a.json")
    assert (refused.code, "veil ledger key" in refused.err) == (2, True)
    assert run("ledger", "key", budget, "grades", "--why", "keys for all").code == 0
    assert run(*VECTOR, *CHARGED, "-o", "a.json").code == 0
    found = run("ledger", "verify", budget, "a.json")
    assert (found.code, "keyed from entry 2 on and authentic" in found.out) == (0, True)
    assert run("ledger", "verify", budget, "--json").json["keyed_from"] == {"grades": 2}
    # A release never takes the place of the key.
    assert run(*VECTOR, *CHARGED, "-o", "ledger.key", "--force").code == 2
    Path("link.json").symlink_to("ledger.key")
    assert run(*VECTOR, *CHARGED, "-o", "link.json", "--force").code == 2
    monkeypatch.delenv("VEIL_LEDGER_KEY")
    without = run(*VECTOR, *CHARGED, "-o", "b.json")
    assert (without.code, "VEIL_LEDGER_KEY" in without.err) == (2, True)
    assert "WARNING: grades: its entries are keyed" in run("ledger", "verify", budget).out
    for wrong in ("", "file:none.key", "ledger.key", "env:NOTHING"):
        monkeypatch.setenv("VEIL_LEDGER_KEY", wrong)
        done = run("ledger", "show", budget)
        assert done.code in (2, 4)
        assert secret not in done.err


@pytest.mark.slow
def test_anchors(run: Run, budget: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VEIL_LEDGER_ANCHOR", "heads.jsonl")
    assert run(*VECTOR, *CHARGED, "-o", "a.json").code == 0
    assert len(Path("heads.jsonl").read_text().splitlines()) == 1
    assert run("ledger", "backup", budget, "-o", "old.db").code == 0
    assert run(*VECTOR, *CHARGED, "-o", "b.json").code == 0
    good = run("ledger", "verify", budget, "--against", "heads.jsonl")
    assert (good.code, "Nothing that was exported or anchored is missing" in good.out) == (0, True)
    shutil.copyfile("old.db", budget)
    monkeypatch.setenv("VEIL_STATE", str(tmp_path / "elsewhere"))
    assert run("ledger", "verify", budget).code == 0
    cut = run("ledger", "verify", budget, "--against", "heads.jsonl")
    assert (cut.code, "3 entries, though 4" in cut.err) == (4, True)
    # Where nothing can be noted nothing is charged.
    monkeypatch.setenv("VEIL_LEDGER_ANCHOR", "none/heads.jsonl")
    before = len(Ledger(budget).dataset("grades").entries())
    assert run(*VECTOR, *CHARGED, "-o", "c.json").code == 6
    assert len(Ledger(budget).dataset("grades").entries()) == before
    assert not Path("c.json").exists()
    for wrong in ("", "heads.json"):
        monkeypatch.setenv("VEIL_LEDGER_ANCHOR", wrong)
        assert run("ledger", "show", budget).code == 2
    monkeypatch.delenv("VEIL_LEDGER_ANCHOR")
    for missing in ("none.jsonl", "sqlite:///none.db"):
        assert run("ledger", "verify", budget, "--against", missing).code in (4, 6)


@pytest.mark.slow
def test_a_restore(run: Run, budget: str) -> None:
    assert run("ledger", "backup", budget, "-o", "monday.db", "--json").json == {"written": "monday.db"}
    assert run("ledger", "backup", budget, "-o", "monday.db").code == 2
    assert run("ledger", "backup", budget, "-o", "monday.txt").code == 2
    assert run("ledger", "backup", "none.db", "-o", "other.db").code == 6
    assert not Path("other.db").exists()
    assert run(*VECTOR, *CHARGED, "-o", "a.json").code == 0
    nothing = run("ledger", "accept-restore", budget, "grades", "--why", "no reason")
    assert nothing.code == 2
    shutil.copyfile("monday.db", budget)
    refused = run(*VECTOR, *CHARGED, "-o", "b.json")
    assert (refused.code, "accept-restore" in refused.err) == (4, True)
    shown = run("ledger", "show", budget, "grades")
    assert "WARNING: grades has 1 entries, though this machine has seen 3" in shown.out
    assert run("ledger", "accept-restore", budget, "grades", "--why", "a disk failed").code == 0
    assert run(*VECTOR, *CHARGED, "-o", "b.json").code == 0
    assert Ledger(budget).dataset("grades").spent.epsilon == 0.2
    assert "a disk failed" in run("ledger", "show", budget, "grades").out
    lost = run("ledger", "verify", budget, "a.json", "b.json")
    assert (lost.code, "b.json: charged as it says" in lost.out) == (4, True)


def test_roles_are_of_servers(run: Run, budget: str) -> None:
    done = run("ledger", "grant", budget, "--role", "ann", "--as", "releaser")
    assert (done.code, "a server" in done.err) == (2, True)
    assert run("ledger", "grant", budget, "--role", "ann", "--as", "king").code == 2
