"""All planted faults in one place.

To add one, write it with `mutant(...)` into the file of its kind, run

    VEIL_MUTANT=its-name python -m pytest -p tests.faults.plugin -n 0 tests/...

and list quick tests that fail by an assertion of their own. Where none does, that is the find: write the test
first, or show that the standard audit finds it (suites.py).
"""

from tests.faults import (
    of_accounting,
    of_floats,
    of_ledger,
    of_noise,
    of_papers,
    of_randomness,
    of_releases,
    of_sensitivity,
    of_words,
)
from tests.faults.registry import MUTANTS, Mutant

KINDS = (
    of_accounting,
    of_floats,
    of_ledger,
    of_noise,
    of_papers,
    of_randomness,
    of_releases,
    of_sensitivity,
    of_words,
)

__all__ = ["KINDS", "MUTANTS", "Mutant"]
