"""What every mechanism is: a domain, a sampler, a privacy profile - and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.checks import choice, integer
from veil.core.errors import InvalidArgument, InvalidField
from veil.core.kind import Kind, kind_named
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng, generator

# Of all draws of one call together: 16 GB.
_MOST_NUMBERS = 2**31


# What a reader of a release must accept, in sentences that several kinds of data share.
STATES_ARE_PUBLIC = "the list of states is public"
LAYOUT_IS_PUBLIC = "how the file is laid out (separators, header, the types of its columns) is public"
ONE_PER_PERSON = (
    "nobody's data are in two items of the batch: hidden is the stated change of one item, not that somebody "
    "has one; how many items there are, and in which order, is public"
)
WITHIN_THE_CAP = (
    "nobody has more records than stated in all items of the batch together; how many items there are, and "
    "in which order, is public"
)
UNPROTECTED = "the entries that are not protected are public"
ROW_BY_ROW = (
    "each record of the data gives at most one row of what the query or view returns, and affects no other "
    "row of it (Veil could not check this)"
)
REAL_ARITHMETIC = "real arithmetic: what the rounding of floats may reveal is not counted"
# Of these the ones without which nothing may be left of the guarantee, and that nobody checked: shown in red.
ALARMING = frozenset({ROW_BY_ROW})


class Domain(ABC):
    """A set of values: `validate` raises, `in` derives from it."""

    __slots__ = ()
    name: ClassVar[str]
    # The kind of data that the values are, by its name in the registry.
    kind: ClassVar[str]

    @property
    @abstractmethod
    def words(self) -> str:
        """What the values are, in words."""

    @abstractmethod
    def validate(self, value: Any) -> Any:
        """The value in the form that samplers take, or an error that names what is wrong."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The name and the parameters, from which it can be built again."""

    def __contains__(self, value: Any) -> bool:
        try:
            self.validate(value)
        except InvalidField:
            return False
        return True


@runtime_checkable
class Mechanism(Protocol):
    """The face that `release`, `calibrate`, `audit` and `compare` know."""

    @property
    def name(self) -> str: ...

    @property
    def domain(self) -> Domain: ...

    @property
    def adjacency(self) -> Adjacency | None: ...

    def validate(self, value: Any) -> Any: ...

    def sample(self, value: Any, *, rng: Any = None, size: int | None = None) -> Any: ...

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile: ...

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]: ...

    def describe(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Described(ABC):
    """A mechanism whose constructor arguments are its whole description."""

    name: ClassVar[str] = ""

    @property
    def adjacency(self) -> Adjacency | None:
        """Its own notion of neighbours, where it was built for one."""
        return None

    @abstractmethod
    def validate(self, value: Any) -> Any:
        """The value in the form that the sampler takes, or an error that names what is wrong."""

    def item_axes(self, valid: Any) -> int:
        """How many axes of a validated value belong to one item; those before them are a batch."""
        return 1

    def is_batch(self, valid: Any) -> bool:
        """Whether a validated value is several items, each somebody's."""
        return np.ndim(valid) > self.item_axes(valid)

    def sample(self, value: Any, *, rng: Any = None, size: int | None = None) -> Any:
        """Draw one output for the value, or `size` of them along a new leading axis.

        rng: None for cryptographic randomness, a seed or a numpy Generator for experiments.
        """
        valid = self.validate(value)
        if size is not None:
            size = integer("size", size, least=1)
            if size * max(1, np.size(valid) if isinstance(valid, np.ndarray) else 1) > _MOST_NUMBERS:
                raise InvalidArgument(
                    "size", expected=f"at most {_MOST_NUMBERS:,} numbers together", found=str(size)[:40]
                )
        return self._draw(generator(rng), valid, size)

    @abstractmethod
    def _draw(self, rng: Rng, value: Any, size: int | None) -> Any: ...

    @abstractmethod
    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """What a release guarantees between neighbours."""

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        """What a reader must accept for the guarantee to hold; empty if nothing."""
        return ()

    def describe(self) -> dict[str, Any]:
        """The name and the parameters, from which `mechanism_from` builds it again."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        parts = {key: item.describe() if hasattr(item, "describe") else item for key, item in values.items()}
        return {"name": self.name, "parameters": parts}


class ExactOrFloat(Described):
    """A mechanism that draws exactly by default, or in floats as Veil 0.1 did.

    exact=True: the draw of real numbers that the proof is about, rounded to a public grid, and nothing else
    (core/random/ideal.md). exact=False: floats, whose rounding the guarantee leaves out.
    """

    exact: bool
    # What descriptions call the exact form: its meaning never changes.
    form: ClassVar[str]

    def describe(self) -> dict[str, Any]:
        """The name and the parameters. Without `form` it is a float form, as in the files of Veil 0.1."""
        description = super().describe()
        if not description["parameters"].pop("exact"):
            return description
        description["parameters"]["form"] = self.form
        return description

    @classmethod
    def rebuilt(cls, form: Any = None, **parameters: Any) -> Any:
        """The mechanism that `describe` described."""
        if form is not None:
            choice("form", form, (cls.form,))
        made: Any = cls
        return made(**parameters, exact=form is not None)


def adjacency_of(mechanism: Described, adjacency: Adjacency | None, *kinds: type[Any]) -> Any:
    """The adjacency to use, checked to be of a kind that the mechanism covers."""
    chosen = mechanism.adjacency if adjacency is None else adjacency
    if not isinstance(chosen, kinds):
        raise InvalidArgument(
            "adjacency",
            expected=" or ".join(kind.__name__ for kind in kinds) + f" for {mechanism.name}",
            found="None" if chosen is None else type(chosen).__name__,
        )
    return chosen


def batch_shape(value: Any, size: int | None) -> tuple[int, ...]:
    """The shape of `size` draws of the value."""
    shape = np.shape(value)
    return shape if size is None else (size, *shape)


def kind_of(mechanism: Any) -> Kind:
    """The kind of data that a mechanism releases: its own, or that of its domain."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidArgument("mechanism", expected="a mechanism of Veil", found=type(mechanism).__name__)
    domain = mechanism.domain
    name = getattr(mechanism, "kind", None) or getattr(domain, "kind", None)
    if name is None:
        expected = "one whose domain states its kind of data"
        raise InvalidArgument("mechanism", expected=expected, found=type(domain).__name__)
    return kind_named(name)


@dataclass(frozen=True, slots=True)
class Published:
    """A paper's (epsilon, delta), the theorem it comes from, and the assumptions that do not hold."""

    epsilon: float
    delta: float
    gamma: float
    theorem: str
    violations: tuple[str, ...]
