"""python -m veil_papers.errata: compute docs/errata.md and print it."""

from __future__ import annotations


def main() -> None:
    """Print the page."""
    from veil_papers.errata.page import errata_page

    print(errata_page(), end="")


if __name__ == "__main__":
    main()
