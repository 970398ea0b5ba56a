"""A pytest plugin: plants the mutant named by VEIL_MUTANT before tests are collected, and tells what failed.

`python -m pytest -p tests.faults.plugin ...`, from the root of the repository. With VEIL_MUTANT_REPORT the
outcome is written to that file as JSON: which tests were collected, which ran, each failure with its phase
and the kind of its exception, and what could not be collected. Of a test with many parameters that must see
the mutant, no more run once one of them has.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

NAME, REPORT = "VEIL_MUTANT", "VEIL_MUTANT_REPORT"


def pytest_configure(config: pytest.Config) -> None:
    name = os.environ.get(NAME, "")
    outcome = _Outcome()
    config.pluginmanager.register(outcome, "veil-mutant-outcome")
    if name:
        from tests.faults.mutants import MUTANTS
        from tests.faults.planting import plant

        outcome.wanted = MUTANTS[name].caught_by
        patch = pytest.MonkeyPatch()
        plant(patch, *MUTANTS[name].plants)


class _Outcome:
    """What happened to the tests of a session."""

    def __init__(self) -> None:
        self.wanted: tuple[str, ...] = ()
        self.collected: list[str] = []
        self.ran: list[str] = []
        self.failed: list[dict[str, str]] = []
        self.not_collected: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.collected = [item.nodeid for item in session.items]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Nothing, in place of a test whose name has failed before with other parameters."""
        node = next((node for node in self.wanted if item.nodeid.startswith(node)), None)
        seen = node is not None and any(failure["test"].startswith(node) for failure in self.failed)
        return True if seen else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "call":
            self.ran.append(report.nodeid)
        if report.failed and call.excinfo is not None:
            kinds = [kind.__name__ for kind in call.excinfo.type.__mro__]
            self.failed.append({"test": report.nodeid, "when": str(report.when), "kinds": " ".join(kinds)})
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.not_collected.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        where = os.environ.get(REPORT, "")
        if where:
            content = {
                "collected": self.collected,
                "ran": self.ran,
                "failed": self.failed,
                "not_collected": self.not_collected,
            }
            Path(where).write_text(json.dumps(content), encoding="utf-8")
