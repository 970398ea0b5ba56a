"""The stronger half: faults of privacy are found by `veil.audit`, which finds nothing in the sound code."""

from __future__ import annotations

import pytest

import veil
from tests.faults.attacks import ATTACKS, Attack
from tests.faults.mutants import MUTANTS
from tests.faults.planting import planted

pytestmark = pytest.mark.slow
SOUND = {id(attack): (name, attack) for name, attack in reversed(ATTACKS.items())}


@pytest.mark.parametrize("name", ATTACKS)
def test_the_audit_finds_it(name: str) -> None:
    with planted(*MUTANTS[name].plants):
        found = ATTACKS[name].run()
    assert found.violated, f"{MUTANTS[name].fault} {found}"


@pytest.mark.parametrize(
    "attack", [attack for _, attack in SOUND.values()], ids=[name for name, _ in SOUND.values()]
)
def test_the_audit_finds_nothing_in_the_sound_code(attack: Attack) -> None:
    # Each raises a false alarm with a probability of at most 1e-9; the seeds are fixed.
    found = attack.run()
    assert not found.violated, str(found)
    # Not idle: the neighbours are told apart by something.
    assert found.lower > 0.0


# Each draw looks as it should; that two of them share their noise shows only when calls are compared.
SHARED = ("fixed-seed", "same-key-for-two-calls", "mechanisms-draw-from-a-seed", "one-noise-for-a-batch")


def _suite() -> veil.AuditSuite:
    # Without a seed, as in a release: a false alarm has a probability of at most 1e-9.
    mechanism = veil.vectors.Laplace(0.05, veil.vectors.Simplex(3))
    return veil.audit_suite(mechanism, veil.vectors.Transfer(0.05), samples=1_000)


@pytest.mark.parametrize("name", SHARED)
def test_the_suite_finds_shared_noise(name: str) -> None:
    with planted(*MUTANTS[name].plants):
        found = _suite()
    assert found.reuse.found, f"{MUTANTS[name].fault} {found}"


def test_the_suite_finds_no_shared_noise_in_the_sound_code() -> None:
    assert not _suite().violated
