"""What all tests share: how examples are tried, and the engines in which the same table is counted."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.faults.plugin import NAME
from tests.params import mark_slow_parameters
from tests.tables.servers import Server, postgres_server, spark_session

# The same examples in every run, and no test that fails because the machine is busy.
settings.register_profile(
    "veil",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # Under a planted fault nobody reads the example: it need not be made small.
    phases=[phase for phase in Phase if NAME not in os.environ or phase is not Phase.shrink],
)
settings.load_profile("veil")

# What Veil remembers of ledgers between processes: of this run alone, and of those that it starts.
_STATE = tempfile.TemporaryDirectory(prefix="veil-state-")
os.environ["VEIL_STATE"] = _STATE.name


# What a run in the background ignores, the commands that the tests start and stop must not.
for _ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    if signal.getsignal(_ignored) is signal.SIG_IGN:
        signal.signal(_ignored, signal.default_int_handler if _ignored is signal.SIGINT else signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before tests are chosen by their marks."""
    mark_slow_parameters(items)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run whose workers all died before the first test has not passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus != 0 or reporter is None or session.config.option.collectonly:
        return
    if not any(reporter.stats.get(outcome) for outcome in ("passed", "skipped", "xfailed")):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


# A table, by columns, becomes the arguments under which count_transitions finds it.
Put = Callable[[dict[str, list[Any]]], dict[str, Any]]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """One for all tests of a worker; the ledger's tests connect from many processes at once."""
    with postgres_server(max_connections=150) as server:
        yield server


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with spark_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


def put_in_duckdb(columns: dict[str, list[Any]]) -> dict[str, Any]:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    connection.register("given", pa.table(columns))
    connection.execute('CREATE TABLE "the table" AS SELECT * FROM given')
    return {"source": connection, "table": "the table"}


def put_in_postgres(server: Server, columns: dict[str, list[Any]]) -> dict[str, Any]:
    import psycopg
    from psycopg import sql

    name = f"Table {uuid4().hex}"
    with psycopg.connect(server.address()) as connection, connection.cursor() as cursor:
        types = [sql.SQL(_postgres_type(values)) for values in columns.values()]
        defined = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(column), kind)
            for column, kind in zip(columns, types, strict=True)
        )
        cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), defined))
        with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))) as copy:
            for row in zip(*columns.values(), strict=True):
                copy.write_row(row)
    return {"source": server.address(), "table": name}


def _postgres_type(values: list[Any]) -> str:
    sample = next((value for value in values if value is not None), "")
    if isinstance(sample, int):
        return "bigint"
    return "double precision" if isinstance(sample, float) else "text"


def put_in_spark(session: Any, columns: dict[str, list[Any]]) -> dict[str, Any]:
    from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

    kinds = {int: LongType, float: DoubleType, str: StringType}
    fields = []
    for name, values in columns.items():
        sample = next((value for value in values if value is not None), "")
        fields.append(StructField(name, kinds[type(sample)]()))
    rows = list(zip(*columns.values(), strict=True))
    return {"source": session.createDataFrame(rows, StructType(fields))}


@pytest.fixture(
    params=[
        "duckdb",
        pytest.param("postgres", marks=pytest.mark.xdist_group("postgres")),
        # A session takes ten seconds to start, and each query one.
        pytest.param("spark", marks=[pytest.mark.xdist_group("spark"), pytest.mark.slow]),
    ]
)
def put(request: pytest.FixtureRequest) -> Put:
    """The same table in each engine."""
    if request.param == "duckdb":
        return put_in_duckdb
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        return lambda columns: put_in_postgres(server, columns)
    session = request.getfixturevalue("spark")
    return lambda columns: put_in_spark(session, columns)
