"""Descriptions of domains, there and back."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.core.kind import kind_named
from veil.core.registry import domain_from
from veil.errors import InvalidArgument
from veil.vectors.counts import Counts
from veil.vectors.simplex import Simplex


@st.composite
def simplices(draw: st.DrawFn) -> Simplex:
    size = draw(st.integers(2, 8))
    protected = draw(st.one_of(st.none(), st.sets(st.integers(0, size - 1), min_size=2)))
    count = size if protected is None else len(protected)
    floor = draw(st.floats(0.0, 0.9 / count))
    slack = None
    if count < size and draw(st.booleans()):
        slack = draw(st.floats(0.0, 0.05))
    return Simplex(size, floor=floor, protected=None if protected is None else tuple(protected), slack=slack)


@pytest.mark.slow
@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.one_of(simplices(), st.builds(Counts, st.integers(2, 10**6))))
def test_a_description_gives_the_domain_back(domain: Simplex | Counts) -> None:
    described = domain.describe()
    again = domain_from(described, kind_named(domain.kind))
    assert again == domain
    assert hash(again) == hash(domain)
    assert again.words == domain.words
    assert described == domain.describe()


def test_a_description_is_plain_data() -> None:
    described = Simplex(4, floor=0.1, protected=(2, 0), slack=0.2).describe()
    assert described == {"name": "Simplex", "size": 4, "floor": 0.1, "protected": [0, 2], "slack": 0.2}
    assert Counts(3).describe() == {"name": "Counts", "size": 3}


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"name": None},
        {"name": "Sphere", "size": 3},
        {"name": ["Simplex"], "size": 3},
        {"name": "Simplex"},
        {"name": "Simplex", "size": 3, "colour": "red"},
        {"name": "Simplex", "size": 3, "floor": 0.5},
        {"name": "Counts", "size": "three"},
    ],
)
def test_a_malformed_description(description: dict[str, Any]) -> None:
    # Missing and unknown fields stay errors of the call; whoever reads a file turns both into one kind.
    with pytest.raises((InvalidArgument, TypeError)):
        domain_from(description, kind_named("vector"))


@pytest.mark.parametrize("name", [None, "Sphere", "", 3])
def test_an_unknown_name(name: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"expected one of .*, found "):
        domain_from({"name": name}, kind_named("vector"))
