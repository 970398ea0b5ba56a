"""Where random numbers come from: fresh streams differ, seeds repeat, and nothing is shared."""

import multiprocessing
import secrets
import threading
import warnings
from multiprocessing.queues import Queue
from typing import Any

import numpy as np
import pytest
from scipy import stats

from veil.errors import InvalidArgument
from veil.samplers.randomness import generator, is_reproducible

from .fit import ALPHA


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
    monkeypatch.setattr(secrets, "randbits", lambda bits: asked.append(bits) or 2**bits - len(asked))  # type: ignore[func-returns-value]
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
    assert is_reproducible(rng) is reproducible
