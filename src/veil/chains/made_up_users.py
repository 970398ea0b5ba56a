"""Made-up users and their sequences, of several kinds, on which a plan tries how much of each to count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.chains.planning import extreme_tables, typical_tables
from veil.chains.sequence_model import LengthLaw, SequenceModel
from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.matrices.chain import Chain
from veil.tables.sequences import SequenceFile, as_log

Numbers = NDArray[np.int64]

# Tables that hold so many transitions a state give the chains that users follow.
_A_STATE = 1_000
# Users who keep to a part of the states: how often they do, and how many parts there are.
_KEEPS, _PARTS = 0.95, 10
# How often a state is left where few are.
_STAYS = 0.8
# The chance that a sequence ends varies between states as this beta law does.
_UNEVEN = (1.0, 2.0)
# The longest sequence, as a multiple of the mean.
_LONGEST = 2_000
_SEED = 29

ONE_CHAIN = "all users travel between places in a plane"
ANY_CHAIN = "all users follow one chain, with all next states as likely as any others"


class Visits(NamedTuple):
    """Sequences of users. states: of all, one after the other; lengths: of each, in states."""

    states: NDArray[Any]
    lengths: Numbers


Make = Callable[[], Visits]


def made_up_users(states: int, users: int, law: LengthLaw) -> Iterator[tuple[str, Visits]]:
    """Users of each kind in turn, by what they are; the first two are the usual ones.

    law: of the lengths of their sequences, except where these end by themselves or are all about as long.
    """
    rng = np.random.default_rng(_SEED)
    travel, anything = map(_chain, typical_tables(states, _A_STATE * states))
    further = [_chain(table) for table in extreme_tables(states, _A_STATE * states).values()]
    nearby, few, even = further[0], further[-2], further[-1]

    def following(chain: Floats, lengths: LengthLaw = law) -> Make:
        return lambda: Visits(*SequenceModel(Chain(chain), lengths=lengths).sequences(users, rng=rng))

    parts = np.arange(states) * min(_PARTS, states) // states
    kept = np.where(parts[:, None] == parts, anything, 0.0)
    kept = _KEEPS * kept / kept.sum(axis=1, keepdims=True) + (1.0 - _KEEPS) * travel
    kinds: dict[str, Make] = {
        ONE_CHAIN: following(travel),
        ANY_CHAIN: following(anything),
        "users of long sequences go other ways than those of short ones": lambda: _two_ways(
            travel, anything, users, law, rng
        ),
        "a few sequences are very long, and go ways of their own": lambda: _two_ways(
            travel, few, users, _with_long_ones(law.mean), rng
        ),
        "each user keeps to a part of the states": following(kept),
        "states are mostly not left": following(_STAYS * np.eye(states) + (1.0 - _STAYS) * nearby),
        "a few pairs of states hold nearly everything": following(few),
        "all pairs of states are about as frequent, and all sequences about as long": following(
            even, LengthLaw(np.array([1, 2, 3]) + int(law.mean) - 1, np.array([0.25, 0.5, 0.25]))
        ),
        "sequences end at some states and not at others": lambda: _ending(travel, users, law.mean, rng),
    }
    for words, made in kinds.items():
        yield words, made()


def users_like(given: Any, states: int, users: int) -> Visits:
    """So many users, drawn from public sequences: lists of states, or a text file with one per line."""
    is_list = isinstance(given, (list, tuple, SequenceFile))
    try:
        log = as_log(given if is_list else SequenceFile(given))
    except InvalidArgument as error:
        expected = "public sequences: a text file with one per line, or a list of lists"
        raise InvalidArgument("typical", expected=expected, found=error.found) from None
    assert log is not None
    numbers = log.column("sequence").to_numpy()
    labels, codes = np.unique(
        log.column("state").to_numpy(zero_copy_only=False).astype(str), return_inverse=True
    )
    if len(labels) > states:
        raise InvalidArgument("typical", expected=f"at most {states} states", found=f"{len(labels):,}")
    firsts = np.flatnonzero(np.diff(numbers, prepend=-1))
    lengths = np.diff(firsts, append=len(numbers))
    # Each about as often: in a draw with replacement, the longest would come several times or not at all.
    rng = np.random.default_rng(_SEED)
    rounds = -(-users // len(lengths))
    drawn = np.concatenate([rng.permutation(len(lengths)) for _ in range(rounds)])[:users]
    sizes = lengths[drawn]
    inside = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Visits(codes[np.repeat(firsts[drawn], sizes) + inside], sizes.astype(np.int64))


def _chain(table: Any) -> Floats:
    return np.asarray((table + 0.5) / (table + 0.5).sum(axis=1, keepdims=True))


def _with_long_ones(mean: float) -> LengthLaw:
    """Lengths with this mean, of which the few above ten times the mean have a quarter of all states."""
    lengths = np.arange(1, int(_LONGEST * mean) + 2)
    usual = np.exp(-lengths / max(mean, 1.0))
    long = np.where(lengths > 10.0 * mean, 1.0 / lengths**2.0, 0.0)
    # Those make up a quarter of the mean.
    shares = usual / usual.sum() + long / (long @ lengths) * 0.25 * mean
    return LengthLaw(lengths, shares / shares.sum())


def _two_ways(short: Floats, long: Floats, users: int, law: LengthLaw, rng: np.random.Generator) -> Visits:
    """The longer a sequence, the more likely it follows the second chain."""
    lengths = law.draw(rng, users)
    second = np.log(lengths / law.mean) > rng.logistic(size=users)
    states = np.empty(int(lengths.sum()), dtype=np.int64)
    for chain, some in ((short, ~second), (long, second)):
        model = SequenceModel(Chain(chain))
        states[np.repeat(some, lengths)] = model.followed(lengths[some], rng)
    return Visits(states, lengths)


def _ending(chain: Floats, users: int, mean: float, rng: np.random.Generator) -> Visits:
    """Sequences that end at each state with a chance of its own, on average after about `mean` states."""
    size = len(chain)
    ends = rng.beta(*_UNEVEN, size)
    ends = np.clip(ends / (ends @ Chain(chain).stationary()) / mean, 0.0, 1.0)
    # One state more: where whoever has ended stays.
    going = np.zeros((size + 1, size + 1))
    going[:size, :size], going[:size, size], going[size, size] = (1.0 - ends[:, None]) * chain, ends, 1.0
    longest = max(2, int(20.0 * mean))
    fixed = LengthLaw(np.array([longest]), np.array([1.0]))
    starts = np.append(Chain(chain).stationary(), 0.0)
    model = SequenceModel(Chain(going), starts=starts, lengths=fixed)
    walked = model.sequences(users, rng=rng)[0].reshape(users, longest)
    kept = walked < size
    return Visits(walked[kept].astype(np.int64), kept.sum(axis=1))
