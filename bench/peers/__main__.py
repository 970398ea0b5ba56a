"""Install all peers: `make peers`."""

from __future__ import annotations

import sys

from bench.peers.environment import PEERS, Environments, PeerMissing


def main() -> int:
    """Make every environment; the exit code says whether all are there."""
    environments, missing = Environments(), 0
    for peer in PEERS:
        try:
            environments.python(peer)
        except PeerMissing as error:
            print(f"{peer} {error}")
            missing += 1
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
