"""Rows of a batch may be people: a release does not show their labels unless they are stated to be public."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.params import quick_first
from veil import matrices, vectors
from veil.core.claim import claim_of
from veil.core.files import to_json
from veil.core.job import ROW_LABELS_ARE_PUBLIC
from veil.core.mechanism import ONE_PER_PERSON
from veil.errors import InvalidArgument

pd = pytest.importorskip("pandas")

PEOPLE, GRADES = ["Ann Example", "Bo Sample"], ["A", "B", "C"]
COUNTS = pd.DataFrame([[31, 28, 21], [5, 6, 7]], index=PEOPLE, columns=GRADES)
SHARES = pd.DataFrame([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], index=PEOPLE, columns=GRADES)
LABELLED: list[tuple[Any, Any, Any]] = [
    (vectors.GeometricCounts(1.0, 3), COUNTS, vectors.Records()),
    (vectors.DirichletCounts(1.0, 10.0, 3), COUNTS, vectors.Records()),
    (vectors.Laplace(0.1, vectors.Simplex(3)), SHARES, vectors.Transfer(0.05)),
    (vectors.Dirichlet(10.0, vectors.Simplex(3, floor=0.1), smooth=True), SHARES, vectors.Transfer(0.05)),
]
IDS = ["geometric", "dirichlet counts", "laplace", "dirichlet"]
WITH_LABELS = quick_first([pytest.param(case, id=name) for name, case in zip(IDS, LABELLED, strict=True)])


def faces(out: Any, folder: Path) -> dict[str, str]:
    """Everything that a release shows of itself."""
    out.save(folder / "out.json")
    out.save(folder / "out.csv")
    out.report(folder / "out.html")
    return {
        **{name: (folder / name).read_text(encoding="utf-8") for name in ("out.json", "out.csv", "out.html")},
        "pandas": out.to_pandas().to_csv(),
        "notebook": out._repr_html_(),
        "repr": repr(out),
    }


def made(case: tuple[Any, Any, Any], **options: Any) -> Any:
    mechanism, value, adjacency = case
    return veil.release(mechanism, value, adjacency=adjacency, delta=1e-3, rng=1, **options)


@pytest.mark.slow
@pytest.mark.parametrize("case", WITH_LABELS)
def test_names_of_rows_are_left_out_unless_they_are_public(case: Any, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="left out of the release.*public_row_labels=True"):
        out = made(case)
    assert out.row_labels is None
    assert out.labels == tuple(GRADES)
    assert ONE_PER_PERSON in out.assumptions
    for face, text in faces(out, tmp_path).items():
        assert not any(name in text for name in PEOPLE), face


@pytest.mark.slow
@pytest.mark.parametrize("case", WITH_LABELS)
def test_public_labels_are_kept_and_said_to_be_public(case: Any, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = made(case, public_row_labels=True)
        silent = made(case, public_row_labels=False)
    assert out.row_labels == tuple(PEOPLE)
    assert silent.row_labels is None
    assert ROW_LABELS_ARE_PUBLIC in out.assumptions
    assert ROW_LABELS_ARE_PUBLIC not in silent.assumptions
    shown = faces(out, tmp_path)
    for face in ("out.json", "out.csv", "pandas"):
        assert all(name in shown[face] for name in PEOPLE), face
    assert claim_of(veil.load(tmp_path / "out.json"), "out.json").holds
    assert veil.load(tmp_path / "out.json").row_labels == tuple(PEOPLE)


def test_what_else_has_labels() -> None:
    """Rows without labels, one vector, and matrices, whose rows are states, need nothing to be said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = made((LABELLED[0][0], COUNTS.reset_index(drop=True), vectors.Records()))
        assert (plain.labels, plain.row_labels) == (tuple(GRADES), None)
        single = made((LABELLED[0][0], COUNTS.iloc[0], vectors.Records()))
        assert single.labels == tuple(GRADES)
        assert (
            ROW_LABELS_ARE_PUBLIC
            not in made((LABELLED[0][0], [3, 2, 1], vectors.Records()), public_row_labels=True).assumptions
        )
        states = pd.DataFrame([[0.5, 0.5], [0.1, 0.9]], index=["on", "off"], columns=["on", "off"])
        chain = matrices.release(states, epsilon=3.0, transfer=0.1, rng=1)
        assert chain.row_labels == ("on", "off")
    with pytest.raises(InvalidArgument, match="public_row_labels: expected True or False"):
        made(LABELLED[0], public_row_labels="yes")


def test_files_with_the_words_of_the_first_version_still_verify() -> None:
    former = "one item per person: each vector of the batch belongs to someone else"
    with pytest.warns(UserWarning, match="left out"):
        out = made(LABELLED[2])
    content = json.loads(to_json(out))
    content["assumptions"] = [former if text == ONE_PER_PERSON else text for text in content["assumptions"]]
    assert former in content["assumptions"]
    from veil.core.files import parse_release

    assert claim_of(parse_release(json.dumps(content), "old"), "old").holds
    content["assumptions"] = [text for text in content["assumptions"] if text != former]
    assert claim_of(parse_release(json.dumps(content), "old"), "old").missing == (ONE_PER_PERSON,)
