"""Made-up votes: 435 members of two parties on 16 bills, with a "?" where nobody knows.

Each bill has a share of yes in either party, from bills that divide them to bills that all agree on, and each
member is more or less loyal. Only `random()` of Python's generator is used, whose stream stays the same.
"""

from __future__ import annotations

from random import Random

Row = tuple[str, ...]

MEMBERS = 435
PARTIES = ("amber", "lilac")
# The share of yes among amber and among lilac, of those who vote with their party.
BILLS = {
    "schools": (0.92, 0.10),
    "harbour": (0.88, 0.22),
    "farm prices": (0.80, 0.85),
    "hospital fees": (0.05, 0.95),
    "railways": (0.72, 0.30),
    "army pay": (0.12, 0.83),
    "water rights": (0.50, 0.52),
    "housing": (0.90, 0.15),
    "border trade": (0.35, 0.66),
    "fishing": (0.62, 0.58),
    "libraries": (0.85, 0.45),
    "new roads": (0.30, 0.75),
    "courts": (0.25, 0.88),
    "police": (0.40, 0.93),
    "postal rates": (0.68, 0.12),
    "broadcasting": (0.93, 0.64),
}
_AMBER = 0.6
# A member follows the party in at least so many votes; otherwise a coin decides.
_LEAST_LOYAL = 0.7
# So many votes are unknown, more on bills that were voted on late at night.
_UNKNOWN, _LATE, _LATE_BILLS = 0.03, 0.15, ("water rights", "broadcasting")


def ballots(*, seed: int = 1) -> list[Row]:
    """The votes: for each member the party, then y, n or ? for each bill.

    >>> from veil.samples.ballots import BILLS, ballots
    >>> votes = ballots()
    >>> len(votes), len(votes[0]) == 1 + len(BILLS)
    (435, True)
    """
    random = Random(f"ballots {seed}")
    rows = []
    for _ in range(MEMBERS):
        party = 0 if random.random() < _AMBER else 1
        loyal = _LEAST_LOYAL + (1.0 - _LEAST_LOYAL) * random.random()
        row = [PARTIES[party]]
        for bill, shares in BILLS.items():
            follows, says, unknown = random.random() < loyal, random.random(), random.random()
            share = shares[party] if follows else 0.5
            lost = _LATE if bill in _LATE_BILLS else _UNKNOWN
            row.append("?" if unknown < lost else ("y" if says < share else "n"))
        rows.append(tuple(row))
    return rows
