"""The house rules: public names, light imports, no hosts, no machine paths."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import veil

ROOT = Path(__file__).parent.parent


def test_public_names_exist() -> None:
    for name in veil.__all__:
        assert getattr(veil, name) is not None
    assert dir(veil) == sorted(veil.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        veil.no_such_name  # noqa: B018


def test_lazy_table_and_type_checkers_see_the_same_names() -> None:
    listed = set(veil._PLACES) | {"__version__", "errors", "learn"}
    assert listed == set(veil.__all__)
    source = (ROOT / "src" / "veil" / "__init__.py").read_text(encoding="utf-8")
    typed = source[source.index("if TYPE_CHECKING:") : source.index("_PLACES")]
    for name in veil._PLACES:
        assert re.search(rf"\b{name}\b", typed), name


def test_import_is_light() -> None:
    code = "import sys, veil; print(sorted(m.split('.')[0] for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("numpy", "scipy", "matplotlib", "dp_accounting", "typer", "rich", "pandas", "randomgen"):
        assert f"'{heavy}'" not in loaded


def test_releasing_does_not_load_what_it_does_not_need() -> None:
    code = (
        "import sys, veil\n"
        "veil.release(veil.vectors.DirichletCounts(2.0, 9.0, 3), [1, 2, 3], adjacency=veil.vectors.Records(), delta=1e-6)\n"
        "print(sorted(m.split('.')[0] for m in sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("matplotlib", "dp_accounting", "typer", "rich", "pandas", "networkx"):
        assert f"'{heavy}'" not in loaded


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split() if (ROOT / name).is_file()]


def test_no_download_addresses() -> None:
    pattern = re.compile(r"https?://[^ \"]*/(simple|packages)/|index-url +http|files\.python|registry\.")
    for path in _tracked():
        if path.suffix in {".md", ".toml", ".txt", ".py", ".yml", ""} and path != Path(__file__):
            assert not pattern.search(path.read_text(encoding="utf-8", errors="ignore")), path


def test_requirements_are_pinned_and_hashed() -> None:
    text = (ROOT / "requirements" / "locked.txt").read_text(encoding="utf-8")
    names = re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)
    assert len(names) > 40
    assert text.count("--hash=sha256:") >= len(names)
    assert "http" not in text


def test_errors_have_exit_codes_and_survive_pickling() -> None:
    import pickle

    from veil import errors

    classes = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in classes if issubclass(kind, errors.VeilError)]
    # What is not an error is a warning, which ends no command.
    raised = [kind for kind in classes if issubclass(kind, Exception) and not issubclass(kind, Warning)]
    assert kinds == raised
    assert {kind.exit_code for kind in kinds} <= {1, 2, 3, 4, 6}
    for error in (
        errors.InvalidData("value", expected="a", found="b", hint="c"),
        errors.BudgetExceeded(spent="1", asked="2", remaining="3"),
        errors.MissingExtra("pandas", "pandas"),
        errors.NoGuarantee("no"),
        errors.LedgerCorrupt("trips/2", "a gap before it"),
        errors.LedgerUnavailable("away"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
