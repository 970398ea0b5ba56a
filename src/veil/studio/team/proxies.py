"""Who is asking, behind a reverse proxy: headers count that a proxy whose address is known has added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.requests import HTTPConnection

from veil.core.errors import InvalidArgument


@dataclass(frozen=True)
class Proxies:
    """trusted: the addresses of the proxies; none where browsers connect directly."""

    trusted: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, given: Sequence[str]) -> Proxies:
        """given: addresses such as 127.0.0.1, or networks such as 10.1.0.0/24."""
        found = []
        for text in given:
            try:
                found.append(ip_network(text.strip(), strict=False))
            except ValueError:
                raise InvalidArgument(
                    "--behind-proxy", expected="an address such as 127.0.0.1, or a network", found=text[:60]
                ) from None
            if found[-1].prefixlen == 0:
                raise InvalidArgument("--behind-proxy", expected="the proxies", found="every address")
        return cls(tuple(found))

    def knows(self, address: str) -> bool:
        """Whether it is one of them."""
        try:
            found = ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self.trusted)

    def trouble(self, asked: HTTPConnection) -> str:
        """Why a request is refused; empty where it is not."""
        if not self.trusted:
            return ""
        if not self.knows(_peer(asked)):
            return "This workbench is reached through its proxy."
        said = asked.headers.getlist("x-forwarded-proto")
        if said and said[-1].rpartition(",")[2].strip() != "https":
            return "This workbench is reached by https."
        return ""

    def client(self, asked: HTTPConnection) -> str:
        """The address that asks: the last one in the way that is not one of our proxies."""
        address = _peer(asked)
        said = ",".join(asked.headers.getlist("x-forwarded-for")).split(",")
        while self.knows(address) and said:
            before = said.pop().strip()
            try:
                address = str(ip_address(before))
            except ValueError:
                break
        return address


def _peer(asked: HTTPConnection) -> str:
    return asked.client.host if asked.client is not None else ""
