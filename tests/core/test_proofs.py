"""Every mechanism has its proof beside it, and every place that a proof names exists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

import veil
from veil.core.kind import every_kind

PROOFS = sorted(Path(veil.__file__).parent.glob("*/mechanisms/*.md"))
ALL = [*PROOFS, *sorted(Path(veil.__file__).parent.glob("core/*/*.md"))]
ALL += [
    Path(veil.__file__).parent / place
    for place in (
        "matrices/perturbation.md",
        "vectors/l1.md",
        "tables/sql/row_wise.md",
        "chains/sparse/drawing.md",
        "chains/sparse/selection.md",
    )
]
_PLACE = re.compile(r"`(veil(?:\.\w+)+):([\w.]+)`")


def test_every_mechanism_has_a_proof() -> None:
    modules = {resolve_name(place).__module__ for kind in every_kind() for place in kind.mechanisms.values()}
    named = {_proof_of(module) for module in modules}
    assert named == {proof.name for proof in PROOFS}


def _proof_of(module: str) -> str:
    """The proof that a mechanism's file names, or the one of its own name."""
    found = re.search(r"proofs in (\w+\.md)\)", import_module(module).__doc__ or "")
    return found[1] if found else module.rsplit(".", 1)[1] + ".md"


@pytest.mark.parametrize("proof", ALL, ids=lambda path: path.stem)
def test_named_places_exist(proof: Path) -> None:
    places = _PLACE.findall(proof.read_text(encoding="utf-8"))
    assert places, "a proof points at the code it proves"
    for module, name in places:
        value = import_module(module)
        for part in name.split("."):
            assert hasattr(value, part), f"{proof.name} names {module}:{name}"
            value = getattr(value, part)
