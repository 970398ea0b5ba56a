"""Where random numbers come from.

Two draws must never come from one piece of a secret stream: their difference would show the data behind
them. So every call makes its own stream, with a fresh key. A stream that is held for longer (a word that is
released online, a generator in a variable) stays with its holder: in the child of a fork it gets a new key
before the child does anything else, a copy or a pickle of it is a new stream, and threads that share one
take turns. Generators that a caller hands in are left as they are: they mark a release as reproducible, and
both sides of a fork repeat them.
"""

from __future__ import annotations

import os
import secrets
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from veil.core.checks import shown
from veil.core.errors import InvalidArgument

Rng = np.random.Generator
Words = NDArray[np.uint64]
# Bits of a word.
WORD = 64


class SecretStream(np.random.Generator):
    """AES in counter mode, a fresh 128-bit key from the operating system, never in two places at once."""

    def __init__(self) -> None:
        self.renew()
        _streams.add(self)

    def renew(self) -> None:
        """Go on under a new key. The lock is new too: a thread that held it is not there after a fork."""
        from randomgen import AESCounter

        # `key`, not `seed`: a seed would be stretched by a hash that is not made for secrets.
        super().__init__(AESCounter(key=secrets.randbits(128)))

    def __reduce__(self) -> Any:
        # What a copy and a pickle are made from: nothing of this stream.
        return SecretStream, ()

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """So many streams under keys of their own."""
        return [SecretStream() for _ in range(n_children)]


_streams: WeakSet[SecretStream] = WeakSet()


def _renew_all() -> None:
    for stream in list(_streams):
        stream.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


def generator(rng: Any = None) -> Rng:
    """A generator: cryptographic for None, else reproducible from a seed, or the one handed in.

    The cryptographic one is AES in counter mode with a fresh 128-bit key from the operating system for
    every call, so that no two calls, threads or forked processes ever share a stream.
    """
    if rng is None:
        return SecretStream()
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise InvalidArgument(
        "rng",
        expected="None (cryptographic), a seed of at least 0, or a numpy Generator",
        found=type(rng).__name__ if not isinstance(rng, int) else repr(rng),
    )


def reproducible(rng: Any = None) -> np.random.Generator:
    """A NumPy generator for what is not secret: from a seed, fresh for None, or the one handed in."""
    numpy_seeds = (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence)
    if rng is None or isinstance(rng, numpy_seeds):
        return np.random.default_rng(rng)
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    expected = "None, a seed of at least 0, or a numpy Generator"
    raise InvalidArgument("rng", expected=expected, found=shown(rng))


def random_words(rng: Rng, count: int) -> Words:
    """So many words of 64 random bits."""
    return rng.integers(0, 2**WORD, size=count, dtype=np.uint64)


def one_word(rng: Rng) -> int:
    """A word of 64 random bits."""
    return int(random_words(rng, 1)[0])
