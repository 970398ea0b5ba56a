"""The house rules: public names, light imports, kinds that only their own folder knows, no hosts."""

from __future__ import annotations

import ast
import pickle
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import veil
from veil import errors

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "veil"
KINDS = (
    "veil.vectors",
    "veil.matrices",
    "veil.chains",
    "veil.words",
    "veil.bits",
    "veil.graphs",
    "veil.trips",
)
PACKAGES = ("veil", *KINDS, "veil.bits.learn")
every_package = pytest.mark.parametrize("package", PACKAGES)


# Names


def test_there_are_few_public_names() -> None:
    assert len(veil.__all__) <= 35
    assert {kind.partition(".")[2] for kind in KINDS} <= set(veil.__all__)


@every_package
def test_public_names_exist(package: str) -> None:
    module = import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is not None, name
    assert dir(module) == sorted(module.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name


def _stub(package: str) -> Path:
    return ROOT / "src" / Path(*package.split(".")) / "__init__.pyi"


def _stated(package: str) -> tuple[dict[str, str], list[str]]:
    """What a stub file says: in which module each name is, and what is public."""
    places: dict[str, str] = {}
    public: list[str] = []
    for node in ast.parse(_stub(package).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 1, "a stub names modules of its own package"
            module = package if node.module is None else f"{package}.{node.module}"
            places |= {found.asname or found.name: module for found in node.names}
        elif isinstance(node, ast.AnnAssign):
            assert isinstance(node.target, ast.Name)
            places[node.target.id] = package
        elif isinstance(node, ast.Assign):
            public = ast.literal_eval(node.value)
    return places, public


def test_every_stub_is_looked_at() -> None:
    assert sorted(SOURCE.rglob("__init__.pyi")) == sorted(map(_stub, PACKAGES))


@every_package
def test_stub_and_package_have_the_same_names(package: str) -> None:
    # In the order of the linter, which puts a name like L1 first.
    places, public = _stated(package)
    assert sorted(public) == sorted(places)
    assert sorted(import_module(package).__all__) == sorted(public)


@every_package
def test_what_a_stub_names_is_there(package: str) -> None:
    places, _ = _stated(package)
    found = import_module(package)
    for name, place in places.items():
        if place == package:
            is_module = (SOURCE.parent / Path(*package.split("."), name)).with_suffix(".py").is_file()
            is_folder = (SOURCE.parent / Path(*package.split("."), name)).is_dir()
            assert isinstance(getattr(found, name), ModuleType) == (is_module or is_folder), name
            continue
        assert getattr(found, name) is getattr(import_module(place), name), f"{place}:{name}"


@every_package
def test_no_module_is_named_like_a_public_function(package: str) -> None:
    """Whoever imports the module would find it in the place of the function from then on."""
    module = import_module(package)
    inside = {found.name for found in pkgutil.iter_modules(module.__path__)}
    public = {name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)}
    assert inside & public == set()


def test_only_the_kinds_know_what_a_kind_is() -> None:
    flag = re.compile(r"is_words|is_bits|is_facts|is_chain|is_matrix|is_graph")
    for folder in ("core", "ledger", "report", "cli", "studio"):
        for path in sorted((SOURCE / folder).rglob("*.py")):
            assert not flag.search(path.read_text(encoding="utf-8")), path


# Imports

_LOADED = "print(sorted({name.partition('.')[0] for name in sys.modules}))"


def _loaded_by(code: str) -> set[str]:
    """The packages that a process of its own has loaded after this."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\n{_LOADED}"], capture_output=True, text=True, check=True
    )
    found: list[str] = ast.literal_eval(done.stdout)
    return set(found)


def test_import_is_light() -> None:
    heavy = {"numpy", "scipy", "numba", "randomgen", "dp_accounting", "matplotlib", "jinja2", "msgspec"}
    heavy |= {"cyclopts", "rich", "pandas", "networkx", "sklearn", "duckdb", "pyarrow", "sqlalchemy"}
    heavy |= {"sqlglot", "threadpoolctl", "veil_papers"}
    assert _loaded_by("import veil; dir(veil); dir(veil.chains)") & heavy == set()


@pytest.mark.slow
def test_releasing_does_not_load_what_it_does_not_need() -> None:
    code = (
        "from veil import bits, chains, graphs, matrices, vectors, words\n"
        "vectors.release({'a': 3, 'b': 2}, epsilon=1.0, delta=1e-6)\n"
        "matrices.release([[0.5, 0.5], [0.2, 0.8]], epsilon=1.0, transfer=0.05)\n"
        "chains.release([[5, 1], [2, 4]], epsilon=1.0)\n"
        "words.release([['a', 'b']], language=words.FreeWords('ab', 2), epsilon=1.0)\n"
        "bits.release([[1, 0], [0, 1]], epsilon=1.0)\n"
        "graphs.release(graphs.Graph.from_edges([(0, 1), (1, 2)], 3), epsilon=1.0)\n"
    )
    loaded = _loaded_by(code)
    assert "numpy" in loaded
    heavy = {"matplotlib", "dp_accounting", "cyclopts", "rich", "pandas", "networkx", "sklearn", "jinja2"}
    assert loaded & heavy == set()


# Files


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split() if (ROOT / name).is_file()]


def test_no_download_addresses() -> None:
    pattern = re.compile(
        r"https?://[^ \"]*/(simple|packages)/|index-url +http|files\.python|registry\.\w+\.\w"
    )
    for path in _tracked():
        if path.suffix in {".md", ".toml", ".txt", ".py", ".yml", ""} and path != Path(__file__):
            assert not pattern.search(path.read_text(encoding="utf-8", errors="ignore")), path


def test_requirements_are_pinned_and_hashed() -> None:
    text = (ROOT / "requirements" / "locked.txt").read_text(encoding="utf-8")
    names = re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)
    assert len(names) > 40
    assert text.count("--hash=sha256:") >= len(names)
    assert "://" not in text


# Errors


def test_errors_have_exit_codes() -> None:
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in classes if issubclass(kind, errors.VeilError)]
    # What is not an error is a warning, which ends no command.
    raised = [kind for kind in classes if issubclass(kind, Exception) and not issubclass(kind, Warning)]
    assert kinds == raised
    assert {kind.exit_code for kind in kinds} <= {1, 2, 3, 4, 6, 7, 8}


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidData("value", expected="a", found="b", hint="c"),
        errors.InvalidArgument("unit", expected="{cap} with it", found="none", names=("cap",)),
        errors.OutputExists("output", expected="a new file", found="out.csv exists already"),
        errors.UnreadableFile("data.csv", expected="a table", found="something else"),
        errors.BudgetExceeded(spent="1", asked="2", remaining="3"),
        errors.MissingExtra("pandas", "pandas"),
        errors.NoGuarantee("no"),
        errors.CannotCalibrate("no"),
        errors.LedgerCorrupt("trips/2", "a gap before it"),
        errors.LedgerUnavailable("away"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error: errors.VeilError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    if isinstance(error, errors.InvalidField) and isinstance(again, errors.InvalidField):
        flags = {"cap": "--cap", "unit": "--unit"}
        assert again.sentence(flags) == error.sentence(flags)


@pytest.mark.slow
def test_text_for_people_is_printed_in_one_place() -> None:
    """Everything else could let a label steer the terminal."""
    allowed = {"report/terminal.py", "report/console.py", "cli/output.py"}
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).as_posix() in allowed:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            name = getattr(called, "id", "") if isinstance(called, ast.Name) else ""
            assert name not in ("print", "Console"), f"{path}:{getattr(node, 'lineno', 0)}"
