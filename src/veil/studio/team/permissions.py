"""What each role may do: the one place that says so. Every page names one of these rights.

| right | viewer | analyst | steward | where |
|---|---|---|---|---|
| LOOK, of finished releases and budgets | yes | yes | yes | in projects of which they are members |
| PROPOSE | no | yes | yes | in projects of which they are members |
| GOVERN | no | no | yes | in projects of which they are members |
| FOUND, a project | no | no | yes | |
| AUDIT | no | no | yes | about projects of which they are members |
| SELF | yes | yes | yes | their own account |
| ANYBODY | yes | yes | yes | without signing in, too |

To somebody who is not a member, a project that is there looks like one that is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from veil.studio.team.accounts import ANALYST, ROLES, STEWARD, VIEWER


@dataclass(frozen=True)
class Right:
    """roles: who has it; in_project: only in projects of which they are members; signed_in: nobody else."""

    name: str
    roles: tuple[str, ...] = ROLES
    in_project: bool = False
    signed_in: bool = True


ANYBODY = Right("anybody", signed_in=False)
SELF = Right("self")
LOOK = Right("look", (VIEWER, ANALYST, STEWARD), in_project=True)
PROPOSE = Right("propose", (ANALYST, STEWARD), in_project=True)
GOVERN = Right("govern", (STEWARD,), in_project=True)
FOUND = Right("found", (STEWARD,))
AUDIT = Right("audit", (STEWARD,))
RIGHTS = (ANYBODY, SELF, LOOK, PROPOSE, GOVERN, FOUND, AUDIT)
