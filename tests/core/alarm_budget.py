"""Adds up the false-alarm rates of all audits that a run of the tests makes: at most 1e-6 in all.

    python -m pytest -n 0 -p tests.core.alarm_budget tests

A plugin, so that it sees the audits of every file; the run fails if they come to more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from veil.core.audit import auditing as audit
from veil.core.audit import suite as audit_suite

MOST = 1e-6
_spent: list[float] = []


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*arguments: Any, **options: Any) -> Any:
        _spent.append(options["alpha"])
        return function(*arguments, **options)

    return called


@pytest.hookimpl
def pytest_configure(config: pytest.Config) -> None:
    """Every audit, and every test of independence within a suite, goes through these two."""
    setattr(audit, "audit_at", _counted(audit.audit_at))  # noqa: B010
    setattr(audit_suite, "audit_at", audit.audit_at)  # noqa: B010
    setattr(audit_suite, "seed_reuse", _counted(audit_suite.seed_reuse))  # noqa: B010


@pytest.hookimpl
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Say what it comes to."""
    print(f"\n{len(_spent)} audits; the chance of a false alarm in any of them is at most {sum(_spent):.3g}")
    if sum(_spent) > MOST:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
