"""Where random numbers come from: fresh streams differ, seeds repeat, and nothing is shared."""

import copy
import gc
import multiprocessing
import os
import pickle
import random
import secrets
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import veil
from tests.core.fit import ALPHA
from veil.core.random import streams as randomness
from veil.core.random.streams import SecretStream, generator
from veil.errors import InvalidArgument

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
COUNT = 4


def words(rng: Any = None, count: int = 4) -> tuple[int, ...]:
    return tuple(int(word) for word in generator(rng).integers(0, 2**63, size=count))


def _put_words(queue: "Queue[tuple[int, ...]]") -> None:
    queue.put(words())


def test_fresh_generators_never_repeat() -> None:
    streams = {words() for _ in range(500)}
    assert len(streams) == 500
    assert len({word for stream in streams for word in stream}) == 2000


def test_a_constant_key_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "randbits", lambda bits: 7)
    assert words() == words()


def test_the_key_is_fresh_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def next_key(bits: int) -> int:
        asked.append(bits)
        return (1 << bits) - len(asked)

    monkeypatch.setattr(secrets, "randbits", next_key)
    first, second = words(), words()
    assert asked == [128, 128]
    assert first != second


def test_the_default_is_the_cryptographic_generator() -> None:
    assert type(generator().bit_generator).__name__ == "AESCounter"
    assert type(generator(None).bit_generator).__name__ == "AESCounter"


def test_bits_of_the_default_generator_are_balanced() -> None:
    # alpha 1e-6 for each of the 64 bits together (Bonferroni)
    values = generator().integers(0, 2**64, size=4000, dtype=np.uint64)
    for bit in range(64):
        ones = int(((values >> np.uint64(bit)) & np.uint64(1)).sum())
        assert stats.binomtest(ones, 4000).pvalue > ALPHA / 64
    assert stats.binomtest(2400, 4000).pvalue < ALPHA / 64


@pytest.mark.parametrize("seed", [0, 1, 2**70, np.int64(5), np.uint8(3)])
def test_a_seed_repeats(seed: Any) -> None:
    assert words(seed) == words(seed)
    assert words(seed) != words(int(seed) + 1)


def test_a_numpy_seed_is_the_same_as_a_plain_one() -> None:
    assert words(np.int32(12)) == words(12)


def test_a_generator_is_used_as_it_is() -> None:
    mine = np.random.default_rng(3)
    assert generator(mine) is mine
    assert words(mine) != words(mine)


@pytest.mark.slow
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_forked_processes_share_no_stream() -> None:
    words()  # the parent has used a generator before it forks
    context = multiprocessing.get_context("fork")
    queue: Any = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking while other threads exist
        children = [context.Process(target=_put_words, args=(queue,)) for _ in range(6)]
        for child in children:
            child.start()
    streams = [queue.get(timeout=60) for _ in children] + [words()]
    for child in children:
        child.join(timeout=60)
        assert child.exitcode == 0
    queue.close()
    queue.join_thread()
    assert len({word for stream in streams for word in stream}) == 4 * 7


def test_threads_share_no_stream() -> None:
    streams: list[tuple[int, ...]] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait(timeout=60)
        streams.append(words())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len({word for stream in streams for word in stream}) == 4 * 8


@pytest.mark.parametrize(
    "rng",
    [
        -1,
        np.int64(-4),
        True,
        False,
        np.bool_(True),
        1.0,
        "7",
        [1, 2],
        np.random.RandomState(1),
        np.random.PCG64(1),
    ],
)
def test_what_is_not_a_source_of_randomness(rng: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        generator(rng)
    assert caught.value.field == "rng"
    assert "cryptographic" in caught.value.expected
    assert caught.value.found


@pytest.mark.parametrize(
    ("rng", "reproducible"), [(None, False), (0, True), (np.random.default_rng(1), True)]
)
def test_what_counts_as_reproducible(rng: Any, reproducible: bool) -> None:
    out = veil.release(veil.bits.RandomizedResponse(1.0), [True, False], rng=rng)
    assert out.reproducible is reproducible


# Streams that are held: no two places may ever go on with the same one.


def next_words(stream: np.random.Generator, count: int = COUNT) -> list[int]:
    return [int(word) for word in stream.integers(0, 2**64, size=count, dtype=np.uint64)]


def in_a_fork(work: Callable[[], list[int]]) -> list[int]:
    """What the work gives in a forked child."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking while other threads exist
        child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writing, pickle.dumps(work()))
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    found: list[int] = pickle.loads(content)
    return found


def unguarded() -> np.random.Generator:
    """The same generator without the guard: what the tests must be able to see."""
    from randomgen import AESCounter

    return np.random.Generator(AESCounter(key=secrets.randbits(128)))


@FORKS
def test_a_held_stream_is_another_one_in_a_fork() -> None:
    stream = generator()
    next_words(stream)
    children = [in_a_fork(lambda: next_words(stream)) for _ in range(3)]
    streams = [*children, next_words(stream)]
    assert len({word for found in streams for word in found}) == COUNT * 4


@FORKS
def test_a_shared_stream_would_be_seen() -> None:
    stream = unguarded()
    next_words(stream)
    assert in_a_fork(lambda: next_words(stream)) == next_words(stream)


@FORKS
def test_the_guard_is_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = generator()
    monkeypatch.setattr(randomness, "_streams", set())
    assert in_a_fork(lambda: next_words(stream)) == next_words(stream)


@FORKS
def test_a_fork_of_a_fork() -> None:
    stream = generator()

    def child() -> list[int]:
        return [*in_a_fork(lambda: next_words(stream)), *next_words(stream)]

    assert len({*child(), *in_a_fork(child), *next_words(stream)}) == COUNT * 5


@FORKS
def test_a_fork_while_another_thread_draws() -> None:
    stream = generator()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with stream.bit_generator.lock:
            held.set()
            done.wait(timeout=60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(timeout=60)
    try:
        # The child has no such thread; a lock that stayed shut would stop it for ever.
        found = in_a_fork(lambda: next_words(stream))
    finally:
        done.set()
        thread.join(timeout=60)
    assert not set(found) & set(next_words(stream))


_held = generator()


def _pooled(_: int) -> list[int]:
    return next_words(_held)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_forked_workers_of_a_pool() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking while other threads exist
        with multiprocessing.get_context("fork").Pool(3) as pool:
            drawn = pool.map(_pooled, range(9), chunksize=1)
    assert len({word for found in [*drawn, next_words(_held)] for word in found}) == COUNT * 10


@FORKS
def test_an_online_word_that_is_forked() -> None:
    roads = {"a": ["b", "c"], "b": ["a"], "c": ["a", "c"]}
    trip = veil.words.online(veil.words.SequentialWords(veil.words.ChainWords(roads, 3, start="a"), 4.0))
    trip.push("b")
    assert not set(in_a_fork(lambda: next_words(trip._rng))) & set(next_words(trip._rng))
    # A word that is being made is not copied at all; its stream, if somebody did, would be another.
    with pytest.raises(veil.errors.InvalidArgument):
        copy.deepcopy(trip)
    again = copy.deepcopy(trip._rng)
    assert not set(next_words(again)) & set(next_words(trip._rng))


@FORKS
def test_a_generator_that_is_handed_in_is_repeated_by_a_fork() -> None:
    # Documented, and one more reason why such a release is marked.
    mine = np.random.default_rng(4)
    assert in_a_fork(lambda: next_words(generator(mine))) == next_words(generator(mine))
    assert veil.release(veil.bits.RandomizedResponse(1.0), [True, False], rng=mine).reproducible


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda stream: pickle.loads(pickle.dumps(stream)), lambda s: s.spawn(1)[0]],
)
def test_a_copy_is_a_stream_of_its_own(copied: Callable[[Any], Any]) -> None:
    stream = generator()
    other = copied(stream)
    assert isinstance(other, SecretStream)
    assert not set(next_words(other)) & set(next_words(stream))


def test_a_copy_of_an_unguarded_stream_would_be_seen() -> None:
    stream = unguarded()
    assert next_words(pickle.loads(pickle.dumps(stream))) == next_words(stream)


def test_threads_that_share_a_stream_take_turns() -> None:
    stream, found = generator(), list[list[int]]()
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait(timeout=60)
        found.extend(next_words(stream, 50) for _ in range(40))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len({word for piece in found for word in piece}) == 8 * 40 * 50


@pytest.mark.slow
def test_streams_are_let_go() -> None:
    gc.collect()
    before = len(randomness._streams)
    for _ in range(50):
        generator()
    gc.collect()
    assert len(randomness._streams) == before


# No seed by accident.


def test_seeds_of_other_generators_change_nothing() -> None:
    found = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        found.append(words())
    assert found[0] != found[1]


@pytest.mark.slow
def test_a_fixed_environment_is_no_seed() -> None:
    code = (
        "from veil.core.random.streams import generator as g; print(g().integers(0, 2**63, size=2).tolist())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    drawn = {
        subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(drawn) == 2


@pytest.mark.parametrize("rng", [0, np.int64(3), np.random.default_rng(None), SecretStream()])
def test_whatever_is_handed_in_marks_the_release(rng: Any, tmp_path: Path) -> None:
    mechanism = veil.vectors.DirichletCounts(2.0, 50.0, 3)
    made = veil.release(mechanism, [4, 5, 6], adjacency=veil.vectors.Records(), delta=1e-6, rng=rng)
    made.save(tmp_path / "made.json")
    assert made.reproducible
    assert veil.load(tmp_path / "made.json").reproducible
    secret = veil.release(mechanism, [4, 5, 6], adjacency=veil.vectors.Records(), delta=1e-6)
    assert not secret.reproducible


def test_two_releases_differ_and_seeded_ones_do_not() -> None:
    mechanism = veil.vectors.Dirichlet(30.0, veil.vectors.Simplex(3, floor=0.1), smooth=True)
    for exact in (
        mechanism,
        veil.vectors.Dirichlet(30.0, veil.vectors.Simplex(3, floor=0.1), smooth=True, exact=True),
    ):
        drawn = [exact.sample([0.2, 0.3, 0.5]) for _ in range(2)]
        assert not np.array_equal(*drawn)
        seeded = [exact.sample([0.2, 0.3, 0.5], rng=7) for _ in range(2)]
        assert np.array_equal(*seeded)
