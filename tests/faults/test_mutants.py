"""Every planted fault is caught by tests, each by an assertion of its own; without it the same tests pass."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.mutants import KINDS, MUTANTS, Mutant
from tests.faults.planting import planted
from tests.faults.plugin import NAME, REPORT
from tests.faults.suites import SUITES

ROOT = Path(__file__).parents[2]
# What a test raises when it finds something wrong; any other exception may be a mutant that merely breaks.
FOUND = {"AssertionError", "Failed"}
LONGEST = 120
Outcome = tuple[int, dict[str, Any], str]
# Asked for are 25.
LEAST = 60


class Runner:
    """Tests in processes of their own, each forked from one that has imported much already."""

    def __init__(self) -> None:
        kept = {key: text for key, text in os.environ.items() if not key.startswith(("PYTEST_", "COV_"))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.runner"],
            cwd=ROOT,
            env=kept | {"OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def outcome(self, nodes: tuple[str, ...], folder: Path, mutant: str = "", *options: str) -> Outcome:
        """The exit code of these tests, what failed and why, and what was printed. options: of pytest."""
        report, printed = folder / "report.json", folder / "printed.txt"
        quiet = ["-q", "-n", "0", "-p", "no:cacheprovider", "--tb=short", "-p", "tests.faults.plugin"]
        # What Hypothesis finds in a mutant must not be tried again in the true code.
        own = {NAME: mutant, REPORT: str(report), "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis")}
        job = {
            "arguments": [*quiet, *options, *nodes],
            "environment": own,
            "printed": str(printed),
            "seconds": LONGEST if mutant else 5 * LONGEST,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(job), file=self._process.stdin, flush=True)
        code = int(self._process.stdout.readline())
        text = printed.read_text(encoding="utf-8")[-4_000:]
        assert report.exists(), text
        return code, json.loads(report.read_text(encoding="utf-8")), text

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=LONGEST)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    made = Runner()
    yield made
    made.close()


def judge(mutant: Mutant, code: int, told: dict[str, Any]) -> list[str]:
    """What speaks against this fault having been caught."""
    wrong = []
    if code != 1 or told["not_collected"]:
        wrong.append(f"exit code {code}, not collected: {told['not_collected']}")
    accepted = FOUND | ({"VeilError"} if mutant.refused else set())
    wrong += [
        f"{failure['test']} broke in {failure['when']}: {failure['kinds'].split()[0]}"
        for failure in told["failed"]
        if failure["when"] != "call" or not accepted & set(failure["kinds"].split())
    ]
    failed = [failure["test"] for failure in told["failed"]]
    missed = [node for node in mutant.caught_by if not any(test.startswith(node) for test in failed)]
    return wrong + [f"{node} did not see it" for node in missed]


NAMED = {name: mutant for name, mutant in MUTANTS.items() if mutant.caught_by}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", NAMED.values(), ids=list(NAMED))
def test_the_fault_is_caught(mutant: Mutant, tmp_path: Path, runner: Runner) -> None:
    code, told, text = runner.outcome(mutant.caught_by, tmp_path, mutant.name)
    wrong = judge(mutant, code, told)
    assert not wrong, f"{mutant.name}: {mutant.fault} {wrong}\n{text}"


@pytest.mark.slow
def test_the_same_tests_pass_without_a_fault(tmp_path: Path, runner: Runner) -> None:
    # Here the quick ones: that the processes do no harm. All of them pass in the suites, which hold them all.
    nodes = tuple(dict.fromkeys(node for mutant in MUTANTS.values() for node in mutant.caught_by))
    code, told, text = runner.outcome(nodes, tmp_path, "", "-m", "not slow and not evidence")
    assert (code, told["failed"], told["not_collected"]) == (0, [], []), text
    assert len(told["ran"]) == len(told["collected"]) > len(nodes) // 2
    code, told, text = runner.outcome(nodes, tmp_path, "", "-m", "not evidence", "--collect-only")
    assert (code, told["not_collected"]) == (0, []), text
    assert [node for node in nodes if not any(test.startswith(node) for test in told["collected"])] == []


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=list(MUTANTS))
def test_the_fault_can_still_be_planted(mutant: Mutant) -> None:
    with planted(*mutant.plants):
        pass
    assert mutant.caught_by or mutant.name in SUITES
    assert mutant.fault.endswith(".")


def test_there_are_enough_of_every_kind() -> None:
    assert len(MUTANTS) >= LEAST
    assert len(KINDS) == len(list(Path(__file__).parent.glob("of_*.py")))
    for node in {node for mutant in MUTANTS.values() for node in mutant.caught_by}:
        file, _, test = node.partition("::")
        name = test.partition("[")[0].rpartition("::")[2]
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), node


def test_a_mutant_that_merely_breaks_is_not_caught() -> None:
    mutant = Mutant("broken", "It breaks.", (), ("tests/test_one.py::test_it",))
    broken = {"test": "tests/test_one.py::test_it", "when": "call", "kinds": "NameError Exception"}
    told = {"failed": [broken], "not_collected": [], "ran": [broken["test"]]}
    assert judge(mutant, 1, told)
    assert judge(mutant, 1, {**told, "failed": [broken | {"kinds": "AssertionError Exception"}]}) == []
    assert judge(mutant, 0, {**told, "failed": []})
    assert judge(mutant, 1, {**told, "not_collected": ["tests/test_one.py"]})
    assert judge(mutant, 1, {**told, "failed": [broken | {"when": "setup", "kinds": "AssertionError"}]})
    refused = Mutant("refused", "It is refused.", (), mutant.caught_by, refused=True)
    ours = {**told, "failed": [broken | {"kinds": "NoGuarantee VeilError Exception"}]}
    assert judge(mutant, 1, ours)
    assert judge(refused, 1, ours) == []
