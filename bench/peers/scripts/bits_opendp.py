"""A table of bits by OpenDP's randomised response of bit vectors; every bit costs `each`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import opendp.prelude as opendp

from bench.clock import least_seconds
from bench.peers.scripts.exchange import answer, given

dp: Any = opendp


def main() -> None:
    settings, arrays = given()
    dp.enable_features("contrib")
    table = arrays["table"].astype(bool)
    # f: the probability with which a bit is replaced by a coin's, so that it is wrong with f / 2.
    flip = 2.0 / (1.0 + math.exp(settings["each"]))
    noisy = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=table.size), dp.discrete_distance(), f=flip
    )
    packed = np.packbits(table.ravel()).tobytes()
    noisy(packed[:16])
    drawn: list[bytes] = []
    seconds = least_seconds(lambda: drawn.append(noisy(packed)), runs=settings.get("runs", 2))
    bits = np.unpackbits(np.frombuffer(drawn[-1], dtype=np.uint8), count=table.size)
    # One bool with this probability of the truth, as OpenDP itself certifies it.
    single = dp.m.make_randomized_response_bool(prob=1.0 - flip / 2.0)
    answer("opendp", {"noisy": bits.reshape(table.shape)}, seconds=seconds, each=single.map(1))


if __name__ == "__main__":
    main()
