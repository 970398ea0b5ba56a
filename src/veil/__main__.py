"""python -m veil, and the `veil` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from veil.cli.app import run

    run()


if __name__ == "__main__":
    main()
