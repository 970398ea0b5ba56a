"""veil ledger, and releases that are charged to one."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from veil.ledger.ledger import Ledger

# A mechanism that needs a delta and is calibrated at once.
VECTOR = ("release", "vector", "grades.csv", "-n", "98", "-d", "1e-6", "-m", "discrete-gaussian")
CHARGED = ("--ledger", "budget.db", "--dataset", "grades")


@pytest.fixture
def budget(folder: Path, run: Run) -> str:
    (folder / "grades.csv").write_text("grade,count\nA,31\nB,28\nC,21\nD,10\nF,8\n")
    opened = run("ledger", "open", "budget.db", "grades", "--epsilon", "1", "--delta", "1e-5", "--json")
    assert opened.code == 0
    assert opened.json["remaining"] == {"epsilon": "1", "delta": "0.00001"}
    return "budget.db"


def test_a_release_is_charged_and_says_what_is_left(run: Run, budget: str) -> None:
    done = run(*VECTOR, "--epsilon", "0.3", *CHARGED, "-o", "private.json")
    assert done.code == 0
    assert "Charged to grades. Spent: epsilon = 0.3, delta = 0.000001. Remaining: epsilon = 0.7" in done.out
    entry = json.loads(Path("private.json").read_text())["entry"]
    assert (entry["dataset"], entry["number"]) == ("grades", 2)
    assert "Charged to a ledger, as grades/2." in run("inspect", "private.json").out
    assert run("inspect", "private.json", "--json").json["entry"] == entry
    shown = run("ledger", "show", budget, "grades", "--json").json
    assert [one["kind"] for one in shown["entries"]] == ["open", "reserve", "confirm"]
    assert shown["spent"]["epsilon"] == "0.3"
    assert shown["entries"][1]["state"] == "released"


def test_the_ledger_says_who_released_and_why(run: Run, budget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "someone")
    said = ("--released-by", "R. Steward", "--reason", "figures for the board")
    assert run(*VECTOR, "--epsilon", "0.1", *CHARGED, *said, "-o", "a.json").code == 0
    assert run(*VECTOR, "--epsilon", "0.1", *CHARGED, "-o", "b.json").code == 0
    shown = run("ledger", "show", budget, "grades", "--json").json["entries"]
    charges = [(one["by"], one["why"]) for one in shown if one["kind"] == "reserve"]
    assert charges == [("R. Steward", "figures for the board"), ("someone", "")]
    printed = " ".join(run("ledger", "show", budget, "grades").out.split())
    assert "Steward" in printed
    assert "someone" in printed
    assert run("ledger", "export", budget, "-o", "all.json").code == 0
    exported = Path("all.json").read_text()
    assert "figures for the board" in exported
    assert "R. Steward" in exported
    # It is in the ledger alone, and lawful there.
    assert "Steward" not in Path("a.json").read_text()
    assert run("ledger", "verify", budget).code == 0
    for flag in ("--released-by", "--reason"):
        refused = run(*VECTOR, "--epsilon", "0.1", flag, "x", "-o", "c.json")
        assert (refused.code, flag in refused.err) == (2, True)
        assert run(*VECTOR, "--epsilon", "0.1", *CHARGED, flag, "a\nb", "-o", "c.json").code == 2
    assert len(Ledger(budget).dataset("grades").entries()) == 5


def test_an_approved_plan_is_charged_once(run: Run, budget: str) -> None:
    plan = "0123456789abcdef" * 4
    planned = (*VECTOR, "--epsilon", "0.1", *CHARGED, "--approved-plan", plan)
    assert run(*planned, "-o", "a.json").code == 0
    again = run(*planned, "-o", "b.json")
    assert (again.code, "--approved-plan: expected a plan that was not charged yet" in again.err) == (2, True)
    assert not Path("b.json").exists()
    entries = run("ledger", "show", budget, "grades", "--json").json["entries"]
    assert [one["plan"] for one in entries] == ["", plan, ""]
    assert run(*VECTOR, "--epsilon", "0.1", *CHARGED, "--approved-plan", "x", "-o", "b.json").code == 2
    alone = run(*VECTOR, "--epsilon", "0.1", "--approved-plan", plan, "-o", "b.json")
    assert (alone.code, "--approved-plan" in alone.err) == (2, True)


def test_what_would_be_lost_is_not_charged(run: Run, budget: str) -> None:
    spent = Ledger(budget).dataset("grades")
    refused = run(*VECTOR, "--epsilon", "0.1", *CHARGED)
    assert (refused.code, "--output" in refused.err) == (2, True)
    assert spent.spent.epsilon == 0
    assert run(*VECTOR, "--epsilon", "0.1", *CHARGED, "--no-output").code == 0
    # The whole record is printed, so nothing is lost.
    assert run(*VECTOR, "--epsilon", "0.1", *CHARGED, "--json").json["entry"]["number"] == 4
    assert str(spent.spent.epsilon) == "0.2"


def test_too_much_is_refused_before_anything_is_written(run: Run, budget: str) -> None:
    done = run(*VECTOR, "--epsilon", "1.5", *CHARGED, "-o", "private.json")
    assert done.code == 3
    assert "epsilon = 1.5" in done.err
    assert "epsilon = 1, delta = 0.00001 remaining" in done.err
    assert not Path("private.json").exists()
    assert Ledger(budget).dataset("grades").spent.epsilon == 0
    as_json = run(*VECTOR, "--epsilon", "1.5", *CHARGED, "--json")
    assert as_json.code == 3
    assert as_json.json["error"]["kind"] == "BudgetExceeded"


@pytest.mark.slow
def test_a_dry_run_says_whether_it_fits(run: Run, budget: str) -> None:
    assert "It fits the budget of grades" in run(*VECTOR, "--epsilon", "0.3", *CHARGED, "--dry-run").out
    assert "does NOT fit" in run(*VECTOR, "--epsilon", "3", *CHARGED, "--dry-run").out
    assert run(*VECTOR, "--epsilon", "3", *CHARGED, "--dry-run", "--json").json["fits_the_budget"] is False
    assert Ledger(budget).dataset("grades").spent.epsilon == 0


def test_what_fails_before_the_draw_costs_nothing(run: Run, budget: str, folder: Path) -> None:
    (folder / "bad.csv").write_text("grade,count\nA,-3\nB,28\n")
    (folder / "folder.json").mkdir()
    (folder / "folder.html").mkdir()
    for arguments in (
        ("release", "vector", "bad.csv", "--records", "98", "--epsilon", "0.1", *CHARGED, "--no-output"),
        (*VECTOR, "--epsilon", "0.1", *CHARGED, "-o", "there/is/no/folder.json"),
        (*VECTOR, "--epsilon", "-1", *CHARGED, "--no-output"),
        (*VECTOR[:-1], "magic", "--epsilon", "0.1", *CHARGED, "--no-output"),
        (*VECTOR, "--epsilon", "0.1", *CHARGED, "-o", "folder.json", "--force"),
        (*VECTOR, "--epsilon", "0.1", *CHARGED, "-o", "new.json", "--report", "folder.html", "--force"),
    ):
        assert run(*arguments).code in (2, 4)
    assert len(Ledger(budget).dataset("grades").entries()) == 1
    assert not (folder / "new.json").exists()


def test_mistyped_ledgers_and_datasets(run: Run, budget: str) -> None:
    for arguments, code, words in (
        (("--ledger", "typo.db", "--dataset", "grades"), 6, "no such file"),
        (("--ledger", "budget.db", "--dataset", "grade"), 2, "'grade'"),
        (("--ledger", "budget.db"), 2, "--dataset"),
        (("--dataset", "grades"), 2, "--ledger"),
        (("--part", "north"), 2, "--part"),
        (("--ledger", "grades.csv", "--dataset", "grades"), 2, ".db"),
        (("--ledger", "mysql://x/y", "--dataset", "grades"), 2, "mysql"),
        ((*CHARGED, "--no-output", "--part", "north"), 2, "without parts"),
    ):
        done = run(*VECTOR, "--epsilon", "0.1", *arguments)
        assert done.code == code, done.err
        assert words in done.err
    assert not Path("typo.db").exists()


@pytest.mark.slow
def test_a_ledger_of_the_environment_cannot_be_forgotten(
    run: Run, budget: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEIL_LEDGER", budget)
    assert run(*VECTOR, "--epsilon", "0.1").code == 2
    assert run(*VECTOR, "--epsilon", "0.1", "--dataset", "grades", "--no-output").code == 0
    # The commands of the ledger itself then need no more than the dataset.
    assert run("ledger", "open", "new", "--epsilon", "1").code == 0
    assert "new" in run("ledger", "show").out
    assert run("ledger", "show", "grades", "--json").json["name"] == "grades"
    assert run("ledger", "show", budget, "grades", "--json").json["name"] == "grades"
    assert run("ledger", "verify").code == 0
    assert run("ledger", "close", "new", "--why", "over").code == 0
    for arguments in (("open", "--epsilon", "1"), ("show", "a", "b"), ("export", "a", "-o", "x.json")):
        assert run("ledger", *arguments).code == 2
    # Set to nothing, as a script may do by mistake, it is no leave to release for free.
    monkeypatch.setenv("VEIL_LEDGER", "")
    done = run(*VECTOR, "--epsilon", "0.1")
    assert (done.code, "VEIL_LEDGER" in done.err) == (2, True)
    monkeypatch.delenv("VEIL_LEDGER")
    assert run(*VECTOR, "--epsilon", "0.1", "--ledger", "").code == 2
    assert run("ledger", "show").code == 2


@pytest.mark.slow
def test_every_release_file_is_answered_for(run: Run, budget: str) -> None:
    assert run(*VECTOR, "--epsilon", "0.1", *CHARGED, "-o", "good.json").code == 0
    assert run(*VECTOR, "--epsilon", "0.1", "-o", "free.json").code == 0
    assert run("ledger", "verify", budget, "good.json").code == 0
    done = run("ledger", "verify", budget, "good.json", "free.json", "none.json", "--json")
    assert done.code == 4
    assert [one["charged"] for one in done.json["releases"]] == [True, False, False]
    told = run("ledger", "verify", budget, "free.json", "good.json")
    assert "good.json: charged as it says" in told.out
    assert "free.json: NOT CHARGED AS IT SAYS" in told.out


@pytest.mark.slow
def test_what_is_short_is_said(run: Run, budget: str) -> None:
    run("ledger", "open", budget, "pure", "--epsilon", "1")
    to = ("--ledger", budget, "--dataset", "pure")
    refused = run(*VECTOR, "--epsilon", "0.5", *to, "--no-output")
    assert refused.code == 3
    assert "not in delta" in refused.err
    told = run(*VECTOR, "--epsilon", "0.5", *to, "--json").json["error"]
    assert told["remaining"] == "epsilon = 1, delta = 0"
    # A dry run ends as the release would.
    assert run(*VECTOR, "--epsilon", "0.5", *to, "--dry-run").code == 3
    assert run(*VECTOR, "--epsilon", "0.5", *CHARGED, "--dry-run").code == 0


@pytest.mark.parametrize("epsilon", ["1_0", "1e400", "0", "1,5", "1/3", "-1", "inf"])
def test_budgets_that_are_a_slip_of_the_hand(run: Run, budget: str, epsilon: str) -> None:
    done = run("ledger", "open", budget, "slip", f"--epsilon={epsilon}")
    assert done.code == 2
    assert "decimal number" in done.err


@pytest.mark.slow
def test_what_a_dataset_was_opened_for_is_asked_of_releases(run: Run, budget: str) -> None:
    run("ledger", "open", budget, "people", "--epsilon", "1", "--delta", "1e-5", "--adjacency", "add-remove")
    done = run(*VECTOR, "--epsilon", "0.1", "--ledger", budget, "--dataset", "people", "--no-output")
    assert done.code == 2
    assert "opened for: one record is added or removed" in done.err
    more = ("--change", "add-remove")
    assert (
        run(*VECTOR, *more, "--epsilon", "0.1", "--ledger", budget, "--dataset", "people", "--no-output").code
        == 0
    )


@pytest.mark.slow
def test_parts_do_not_add_up(run: Run, budget: str) -> None:
    made = run("ledger", "open", budget, "cities", "-e", "1", "-d", "1e-5", "--parts", "north, south")
    assert "north: epsilon = 0" in made.out
    for part in ("north", "south"):
        to = ("--ledger", budget, "--dataset", "cities", "--part", part, "--no-output")
        assert run(*VECTOR, "--epsilon", "0.9", *to).code == 0
    assert run("ledger", "show", budget, "cities", "--json").json["spent"]["epsilon"] == "0.9"
    whole = run(*VECTOR, "--epsilon", "0.2", "--ledger", budget, "--dataset", "cities", "--no-output")
    assert whole.code == 3


def test_raise_and_close_say_who_and_why(run: Run, budget: str) -> None:
    assert run("ledger", "raise", budget, "grades", "--epsilon", "2").code == 2  # why is missing
    assert run("ledger", "raise", budget, "grades", "--why", "more").code == 2
    assert run("ledger", "raise", budget, "grades", "--epsilon", "0.5", "--why", "less").code == 2
    done = run("ledger", "raise", budget, "grades", "-e", "2", "--why", "the board", "--by", "ada")
    assert done.code == 0
    assert "epsilon = 2" in done.out
    assert run("ledger", "close", budget, "grades", "--why", "the end").code == 0
    refused = run(*VECTOR, "--epsilon", "0.1", *CHARGED, "--no-output")
    assert refused.code == 2
    assert "closed" in refused.err
    entries = Ledger(budget).dataset("grades").entries()
    assert [(one.kind, one.content.get("why")) for one in entries[1:]] == [
        ("raise", "the board"), ("close", "the end")
    ]  # fmt: skip
    assert entries[1].content["by"] == "ada"


@pytest.mark.slow
def test_show_lists_datasets_and_draws(run: Run, budget: str) -> None:
    run(*VECTOR, "--epsilon", "0.3", *CHARGED, "--no-output")
    listed = run("ledger", "show", budget)
    assert "grades" in listed.out
    assert "30%" in listed.out
    assert run("ledger", "show", budget, "--json").json["datasets"][0]["charges"] == 1
    drawn = run("ledger", "show", budget, "grades", "--plot", "budget.svg")
    assert drawn.code == 0
    assert "budget" in Path("budget.svg").read_text()
    assert run("ledger", "show", budget, "grades", "--plot", "budget.svg").code == 2  # it is there already
    assert run("ledger", "show", budget, "--plot", "other.svg").code == 2
    assert run("ledger", "show", budget, "grades", "--plot", "budget.gif").code == 2


@pytest.mark.slow
def test_verify_and_export(run: Run, budget: str) -> None:
    run(*VECTOR, "--epsilon", "0.3", *CHARGED, "-o", "private.json")
    assert run("ledger", "export", budget, "--heads", "-o", "heads.json").code == 0
    assert run("ledger", "export", budget, "-o", "all.json").code == 0
    assert len(json.loads(Path("all.json").read_text())["datasets"]["grades"]["chain"]) == 3
    modes = [stat.S_IMODE(Path(name).stat().st_mode) for name in ("heads.json", "all.json")]
    assert modes == [0o644, 0o600]
    done = run("ledger", "verify", budget, "--against", "heads.json", "--release", "private.json")
    assert done.code == 0
    assert "grades: 3 entries are consistent" in done.out
    assert "private.json: charged as it says." in done.out
    assert run("ledger", "verify", budget, "--json").json["entries"] == {"grades": 3}
    for wrong in ("grades.csv", "none.json", "private.json"):
        assert run("ledger", "verify", budget, "--against", wrong).code == 4


@pytest.mark.slow
def test_verify_shows_edits_and_cut_ends(
    run: Run, budget: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(*VECTOR, "--epsilon", "0.3", *CHARGED, "--no-output")
    run("ledger", "export", budget, "--heads", "-o", "heads.json")
    with sqlite3.connect(budget) as connection:
        for name in ("UPDATE", "DELETE"):
            connection.execute(f"DROP TRIGGER veil_ledger_no_{name}")
        bodies = [
            row[0] for row in connection.execute("SELECT body FROM veil_ledger_entries ORDER BY number")
        ]
        connection.execute("DELETE FROM veil_ledger_entries WHERE number > 1")
        connection.execute("UPDATE veil_ledger_datasets SET last = ?", (bodies[0],))
    # This machine remembers what it has seen; another one needs an export.
    seen = run("ledger", "verify", budget)
    assert (seen.code, "this machine has seen 3" in seen.err) == (4, True)
    assert "this machine has seen 3" in run("ledger", "show", budget, "grades").out
    monkeypatch.setenv("VEIL_STATE", str(tmp_path / "elsewhere"))
    found = run("ledger", "verify", budget)
    assert found.code == 0
    assert "WARNING: the database does not refuse changes any more" in found.out
    cut = run("ledger", "verify", budget, "--against", "heads.json")
    assert cut.code == 4
    assert "1 entries, though 3 were exported" in cut.err
    with sqlite3.connect(budget) as connection:
        connection.execute("UPDATE veil_ledger_entries SET body = replace(body, '\"1\"', '\"9\"')")
    assert run("ledger", "verify", budget).code == 4


@pytest.mark.slow
def test_verify_shows_files_that_say_something_else(run: Run, budget: str) -> None:
    run(*VECTOR, "--epsilon", "0.3", *CHARGED, "-o", "private.json")
    run(*VECTOR, "--epsilon", "0.3", "-o", "free.json")
    assert "charged to no ledger" in run("ledger", "verify", budget, "--release", "free.json").out
    content = json.loads(Path("private.json").read_text())
    for key, other in (("reproducible", True), ("privacy", content["privacy"] | {"epsilon": 0.2})):
        Path("edited.json").write_text(json.dumps(content | {key: other}))
        assert run("ledger", "verify", budget, "--release", "edited.json").code == 4
    entry = content["entry"] | {"number": 3}
    Path("edited.json").write_text(json.dumps(content | {"entry": entry}))
    assert run("ledger", "verify", budget, "--release", "edited.json").code == 4


def test_the_file_is_for_its_owner(run: Run, budget: str) -> None:
    assert stat.S_IMODE(Path(budget).stat().st_mode) == 0o600


@pytest.mark.slow
def test_every_release_command_takes_a_ledger(run: Run, budget: str) -> None:
    for kind in ("vector", "matrix", "chain", "words", "bits", "graph"):
        text = run("release", kind, "--help").out
        assert "--ledger" in text
        assert "--dataset" in text


@pytest.mark.slow
def test_matrix_words_bits_and_graphs_are_charged(run: Run, budget: str, folder: Path) -> None:
    (folder / "words.txt").write_text("a b a\nb b a\n")
    (folder / "votes.csv").write_text("x,y,z\n1,0,1\n0,0,1\n1,1,0\n")
    (folder / "edges.txt").write_text("1 2\n2 3\n3 4\n")
    (folder / "trips.csv").write_text("from,to\na,b\nb,a\na,a\n")
    run("ledger", "open", budget, "all", "--epsilon", "100", "--delta", "0.1")
    to = ("--epsilon", "2", "--ledger", budget, "--dataset", "all")
    for arguments in (
        ("matrix", "roads.csv", "--l1", "0.02"),
        ("words", "words.txt", "--sequences", "--symbols", "a,b"),
        ("bits", "votes.csv"),
        ("graph", "edges.txt"),
        ("chain", "trips.csv", "--from", "from", "--to", "to", "--states", "a,b"),
    ):
        done = run("release", *arguments, *to, "--no-output")
        assert done.code == 0, done.err
        assert "Charged to all" in done.out
    assert Ledger(budget).dataset("all").spent.epsilon == 10
    assert Ledger(budget).verify().datasets == ["all", "grades"]
