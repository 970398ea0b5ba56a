"""How many examples each test tries: few in `make test`, many when VEIL_FUZZ asks for a long run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# VEIL_FUZZ=20 tries twenty times as many, and other ones in every run.
TIMES = int(os.environ.get("VEIL_FUZZ", "1"))


def tries(examples: int) -> settings:
    """The settings of a test that tries this many examples in `make test`: always the same ones."""
    return settings(
        max_examples=examples * TIMES,
        derandomize=TIMES == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
