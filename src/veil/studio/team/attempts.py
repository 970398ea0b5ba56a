"""Attempts to sign in: counted in the database for each account and each address, so that nobody can guess.

An attempt is noted before the password is looked at. However many come at once, and whichever process they
reach, no more than the limit are answered; a restart forgets none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from veil.studio.team.accounts import secret_hash
from veil.studio.team.database import Database


@dataclass(frozen=True)
class Attempts:
    """within: how long an attempt counts; of_account, of_address: how many are answered meanwhile."""

    database: Database
    within: timedelta = timedelta(minutes=15)
    of_account: int = 10
    of_address: int = 50

    def allowed(self, name: str, address: str) -> bool:
        """Note an attempt, and say whether it may be looked at.

        An account that does not exist is counted like any other.
        """
        keys = self._keys(name, address)
        now = datetime.now(UTC)
        with self.database.begin() as rows:
            for key in sorted(keys):
                rows.lock_attempts(key)
            rows.run("DELETE FROM veil_studio_attempts WHERE at < :since", since=now - self.within)
            for key, most in keys.items():
                found = rows.one(
                    "SELECT count(*) AS tried FROM veil_studio_attempts WHERE key = :key", key=key
                )
                # What is refused is not counted: it shows nothing, and would keep the owner out for longer.
                if found is not None and found["tried"] >= most:
                    return False
            for key in keys:
                rows.run("INSERT INTO veil_studio_attempts (key, at) VALUES (:key, :at)", key=key, at=now)
        return True

    def forget(self, name: str, address: str) -> None:
        """Somebody came in: the attempts of the account count no more, nor this one of the address.

        Those of the address that failed go on to count: signing in with one account does not allow to guess
        at others.
        """
        account, place = self._keys(name, address)
        with self.database.begin() as rows:
            rows.run("DELETE FROM veil_studio_attempts WHERE key = :key", key=account)
            rows.run(
                "DELETE FROM veil_studio_attempts WHERE id = "
                "(SELECT max(id) FROM veil_studio_attempts WHERE key = :key)",
                key=place,
            )

    def _keys(self, name: str, address: str) -> dict[str, int]:
        account = secret_hash(name.strip().casefold())
        return {f"account {account}": self.of_account, f"address {_network(address)}": self.of_address}


def _network(address: str) -> str:
    """The address; of the newer kind its network, all of which belongs to one customer."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((found, 64), strict=False))
    return str(found)
