"""Where random numbers come from."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from veil.errors import InvalidArgument

Rng = np.random.Generator


def generator(rng: Any = None) -> Rng:
    """A generator: cryptographic for None, else reproducible from a seed, or the one handed in.

    The cryptographic one is AES in counter mode with a fresh 128-bit key from the operating system for
    every call, so that no two calls, threads or forked processes ever share a stream.
    """
    if rng is None:
        return _cryptographic()
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise InvalidArgument(
        "rng",
        expected="None (cryptographic), a seed of at least 0, or a numpy Generator",
        found=type(rng).__name__ if not isinstance(rng, int) else repr(rng),
    )


def is_reproducible(rng: Any) -> bool:
    """Whether somebody who knows the seed could repeat the draw."""
    return rng is not None


def _cryptographic() -> Rng:
    from randomgen import AESCounter

    # `key`, not `seed`: a seed would be stretched by a hash that is not made for secrets.
    return np.random.Generator(AESCounter(key=secrets.randbits(128)))
