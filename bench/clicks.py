"""Held-out sessions of a click-stream of many pages: released chains, the true one, and simpler ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from veil import chains
from veil.matrices import BackOffChain

SESSIONS = Path(__file__).parents[2] / "shared" / "data" / "kosarak_part.txt"
SEED, TRAINING = 0, 0.8
SOME_PAGES = (2_000, 4_000)
_CAP, _TOP = 10, 10

Steps = NDArray[np.int64]


def split() -> tuple[list[NDArray[Any]], list[NDArray[Any]], list[int]]:
    """Sessions to learn from, those to test with, and all pages."""
    lines = [list(map(int, line.split())) for line in SESSIONS.read_text(encoding="ascii").splitlines()]
    pages = sorted({page for line in lines for page in line})
    places = {page: place for place, page in enumerate(pages)}
    coded = [np.array([places[page] for page in line]) for line in lines]
    order = np.random.default_rng(SEED).permutation(len(coded))
    cut = int(TRAINING * len(coded))
    return [coded[i] for i in order[:cut]], [coded[i] for i in order[cut:]], pages


def steps(sessions: list[NDArray[Any]]) -> Steps:
    """All steps of sessions."""
    pairs = [np.stack([one[:-1], one[1:]], axis=1) for one in sessions if len(one) > 1]
    return np.concatenate(pairs)


def score(chain: BackOffChain, tested: Steps) -> tuple[float, float, float]:
    """The mean log-loss, and how often the next page is the likeliest one or among the ten likeliest."""
    origins, ends = tested.T
    own = np.asarray(chain.likely[origins, ends]).ravel()
    loss = float(-np.log(own + chain.rest[origins] * chain.law[ends]).mean())
    common, best = np.argsort(-chain.law, kind="stable")[:_TOP], {}
    for place in np.unique(origins).tolist():
        part = slice(chain.likely.indptr[place], chain.likely.indptr[place + 1])
        some = np.union1d(chain.likely.indices[part], common)
        chances = chain.rest[place] * chain.law[some]
        chances[np.searchsorted(some, chain.likely.indices[part])] += chain.likely.data[part]
        best[place] = some[np.argsort(-chances, kind="stable")[:_TOP]].tolist()
    first = np.mean([best[i][0] == j for i, j in tested.tolist()])
    ten = np.mean([j in best[i] for i, j in tested.tolist()])
    return loss, float(first), float(ten)


def bigrams(table: csr_array, law: NDArray[Any], spread: float) -> BackOffChain:
    """The chain of counts that are not private; `spread` transitions of each row follow the law."""
    rows = np.asarray(table.sum(axis=1)).ravel()
    entries = table.tocoo()
    shares = entries.data / (rows[entries.row] + spread)
    return BackOffChain(csr_array((shares, (entries.row, entries.col)), shape=table.shape), law)


def thresholded(release: Any) -> BackOffChain:
    """Noise, threshold, normalise: the kept noisy counts as they are, and popularity where there are none."""
    size = len(release.value)
    origins, ends = np.divmod(release.tables["cells"], size)
    table = csr_array((release.tables["counts"], (origins, ends)), shape=(size, size))
    busy = np.maximum(release.tables["arrivals"], 0) + 0.5
    return bigrams(table, busy / busy.sum(), 0.5)


def table_of(pairs: Steps, size: int) -> csr_array:
    """How often each step was made."""
    return csr_array((np.ones(len(pairs), np.int64), (pairs[:, 0], pairs[:, 1])), shape=(size, size))


def released(epsilon: float, delta: float, unit: str, training: list[NDArray[Any]], size: int) -> Any:
    """A release of the sessions."""
    log = {
        "who": np.repeat(np.arange(len(training)), list(map(len, training))),
        "at": np.concatenate([np.arange(len(one)) for one in training]),
        "page": np.concatenate(training),
    }
    whole: dict[str, Any] = {"cap": _CAP, "once": True, "salt": "bench"} if unit == "user" else {}
    counts = chains.read(log, by="who", order="at", state="page", states=list(range(size)), **whole)
    return chains.release(counts, epsilon=epsilon, delta=delta, unit=unit, rng=SEED)


def run() -> None:
    """Print two tables."""
    if not SESSIONS.is_file():
        print("the click-stream is not here")
        return
    training, testing, pages = split()
    size, known, tested = len(pages), steps(training), steps(testing)
    print(f"{size:,} pages, {len(known):,} steps to learn from, {len(tested):,} to test with")
    table = table_of(known, size)
    popular = np.asarray(table.sum(axis=0)).ravel() + 0.5
    law = popular / popular.sum()
    none = BackOffChain(csr_array((size, size)), law)
    _show("not private: popularity alone", none, tested)
    _show("not private: bigrams with back-off", bigrams(table, law, 6.0), tested)
    for unit, epsilon, delta in (
        ("event", 1.0, 0.0),
        ("event", 4.0, 0.0),
        ("user", 1.0, 1e-6),
        ("user", 4.0, 1e-6),
    ):
        out = released(epsilon, delta, unit, training, size)
        what = f"{'one transition' if unit == 'event' else 'a whole session'}, epsilon = {epsilon:g}"
        _show(what, out.value, tested)
        _show(f"  {'noise, threshold, normalise'}", thresholded(out), tested)
    print()
    for some in SOME_PAGES:
        _dense_beside_sparse(known, tested, popular, some)


def _dense_beside_sparse(known: Steps, tested: Steps, popular: NDArray[Any], most: int) -> None:
    """Both forms on the steps among the busiest pages."""
    busiest = np.argsort(-popular, kind="stable")[:most]
    place = np.full(len(popular), -1)
    place[busiest] = np.arange(most)
    inside, held_out = (place[each][(place[each] >= 0).all(axis=1)] for each in (known, tested))
    counts = chains.TransitionCounts(table_of(inside, most))
    for pairs in ("all", "large"):
        value = chains.release(counts, epsilon=1.0, pairs=pairs, rng=SEED).value
        if not isinstance(value, BackOffChain):
            value = BackOffChain(value.to_scipy(), np.full(most, 1.0 / most))
        _show(f"{most:,} pages, one transition, epsilon = 1: {pairs}", value, held_out)


def _show(what: str, chain: BackOffChain, tested: Steps) -> None:
    loss, first, ten = score(chain, tested)
    print(f"{what:52} log-loss {loss:.3f}   top 1 {first:.3f}   top 10 {ten:.3f}", flush=True)


if __name__ == "__main__":
    run()
