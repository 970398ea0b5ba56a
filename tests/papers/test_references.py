"""How the papers are cited, and the page that lists them."""

from __future__ import annotations

from pathlib import Path

import pytest
from veil_papers.references import REFERENCES, Reference, references_page

ROOT = Path(__file__).parent.parent.parent


def test_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    assert written == references_page(), "run: python -m veil_papers.references > docs/references.md"


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda reference: reference.name)
def test_papers_are_cited_by_readable_names(reference: Reference) -> None:
    assert reference.link.startswith("https://")
    assert reference.key.endswith(f"et al. {reference.year} ({reference.topic})")
    assert reference.cite("Theorem 1") == f"{reference.topic} paper, Theorem 1"
    # Every paper has its part of the page of items.
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert f"## {reference.heading}\n\n[{reference.key}](references.md): {reference.title}. " in text
    assert f"<{reference.link}>" in text
