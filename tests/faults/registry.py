"""The registry of planted faults: a name, what is wrong, how it is planted, and which tests must fail."""

from __future__ import annotations

from dataclasses import dataclass

from tests.faults.planting import Plant


@dataclass(frozen=True)
class Mutant:
    """A fault in our own code.

    fault: what is wrong, a sentence. plants: the changes. caught_by: node ids of tests, each of which must
    fail; none where the standard audit alone finds it (`suites.py`). refused: the code itself may notice and
    refuse to go on, so that they fail by an error of ours.
    """

    name: str
    fault: str
    plants: tuple[Plant, ...]
    caught_by: tuple[str, ...]
    refused: bool = False


MUTANTS: dict[str, Mutant] = {}


def mutant(
    name: str, fault: str, *plants: Plant, caught_by: tuple[str, ...] = (), refused: bool = False
) -> None:
    """Enter a fault among the others."""
    if name in MUTANTS:
        raise ValueError(f"there is a mutant {name} already")
    MUTANTS[name] = Mutant(name, fault, plants, caught_by, refused)
