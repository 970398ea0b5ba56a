"""Whether what is hidden under one relation of neighbours hides those of another as well."""

from __future__ import annotations

from veil.bits.bit_flips import BitFlips
from veil.chains.contributions import Contributions, Transitions
from veil.matrices.rectangle import Rectangle
from veil.vectors.adjacency import Adjacency, Rows, Transfer
from veil.words.hamming import Hamming


def covers(wide: Adjacency, narrow: Adjacency) -> bool:
    """Whether all neighbours under the narrow relation are neighbours under the wide one.

    False where that is not certain. Of whole users the cap does not matter: it says how much is counted of a
    person, not who is a neighbour.
    """
    match wide, narrow:
        case Transfer(), Transfer():
            return wide.mass >= narrow.mass
        case Rectangle(), Rectangle():
            return wide.mass >= narrow.mass
        case Hamming(), Hamming():
            return wide.radius >= narrow.radius and wide.words_each >= narrow.words_each
        case BitFlips(), BitFlips():
            return wide.count >= narrow.count and (wide.where == "anywhere" or narrow.where == "row")
        case Contributions(), Contributions():
            return wide.added >= narrow.added and wide.removed >= narrow.removed
        case Transitions(), Transitions():
            return (wide.unit, wide.change) == (narrow.unit, narrow.change)
        case Rows(), Rows():
            most = float("inf")
            changed, other = (
                most if isinstance(rows.changed, str) else rows.changed for rows in (wide, narrow)
            )
            return changed >= other and wide.each.mass >= narrow.each.mass
    return wide == narrow
