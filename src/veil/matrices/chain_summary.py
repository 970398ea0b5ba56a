"""A chain from a file, whatever kind of file it is; and its figures in one call."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from veil.core.errors import InvalidArgument, InvalidData, VeilError
from veil.core.files import holds_release, parse_release
from veil.core.record import Release
from veil.matrices.chain import MOST_DENSE, Chain
from veil.matrices.reading import parse_matrix
from veil.matrices.released import to_chain
from veil.tables.files import decoded, file_of, name_of, text_bytes

# Beyond it the eigenvalues would take minutes; `Chain.second_eigenvalue` still gives them.
_MOST_EIGENVALUES = 1_000


def read_chain(path: str, group: str | None = None) -> tuple[Chain, Release[Any] | None]:
    """The chain in a file: a release of Veil (which is returned too), or a matrix in CSV or JSON.

    group: of a release with a chain for each group, that one's.
    """
    file = file_of(path)
    raw, name = text_bytes(file), name_of(file)
    text = decoded(raw, name)
    if not holds_release(text):
        if group is not None:
            raise InvalidArgument("group", expected="a release with groups", found="a plain matrix")
        return Chain(parse_matrix(raw, name)), None
    release = parse_release(text, name)
    # Kinds whose releases are chains have this method.
    chain_of = getattr(release.kind, "chain", lambda release, group: to_chain(release))
    try:
        return chain_of(release, group), release
    except InvalidArgument as error:
        if error.field == "group":
            raise
        raise InvalidData(
            name,
            expected=error.expected,
            found=error.found,
            hint="`veil inspect` explains it.",
            names=error.names,
        ) from None


@dataclass(frozen=True, slots=True)
class ChainFacts:
    """The figures of a chain, a number each; None where one does not apply.

    kemeny: the mean number of steps to a state drawn from the stationary distribution, which is the
    same from every start. likely_ways: e^entropy, how many equally likely ways out would be as uncertain.
    """

    states: int
    transitions: int
    classes: int
    period: int | None
    second_eigenvalue: float | None
    mixing_time: float | None
    ergodicity_1: float | None
    ergodicity_inf: float | None
    condition: float | None
    kemeny: float | None
    entropy_rate: float | None
    likely_ways: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            name: None if isinstance(number, float) and not math.isfinite(number) else number
            for name, number in asdict(self).items()
        }


def chain_facts(chain: Chain) -> ChainFacts:
    """All figures of the chain; of a large or a reducible one those that exist."""
    if not isinstance(chain, Chain):
        raise InvalidArgument("chain", expected="a veil.Chain", found=type(chain).__name__)
    dense, whole = len(chain) <= MOST_DENSE, chain.is_irreducible
    entropy = chain.entropy_rate() if whole else None
    mixing: float | None = None
    if dense and whole:
        try:
            mixing = chain.mixing_time()
        except (VeilError, ArithmeticError):
            mixing = None
    return ChainFacts(
        states=len(chain),
        transitions=int(chain.to_scipy().nnz),
        classes=len(chain.classes()),
        period=chain.period() if whole else None,
        second_eigenvalue=chain.second_eigenvalue() if len(chain) <= _MOST_EIGENVALUES else None,
        mixing_time=mixing,
        ergodicity_1=chain.ergodicity(1) if dense else None,
        ergodicity_inf=chain.ergodicity("inf") if dense else None,
        condition=chain.condition() if dense and whole else None,
        kemeny=float(chain.group_inverse().trace()) if dense and whole else None,
        entropy_rate=entropy,
        likely_ways=None if entropy is None else math.exp(entropy),
    )
