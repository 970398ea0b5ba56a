"""Functions that a SELECT can call and that do more than to compute a value, by engine.

Such functions write, wait, lock, start something or send something, or run another text as a query. The lists
are for a clear refusal before anything is connected. PostgreSQL is also asked which of the functions that a
query names are volatile, so that its list need not be complete (`veil.tables.engines.postgres_catalog`);
connections to DuckDB that are Veil's own read one database or certain files and can do nothing else.
"""

from __future__ import annotations

_POSTGRES = (
    "nextval setval set_config query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml "
    "cursor_to_xmlschema ts_stat pg_notify pg_promote pg_stat_file pg_execute_server_program pg_reload_conf "
    "pg_export_snapshot pg_current_logfile xpath_table crosstab loread lowrite"
)
_DUCKDB = (
    "nextval setval setseed write_log query query_table json_execute_serialized_sql checkpoint "
    "force_checkpoint load_aws_credentials truncate_duckdb_logs create_external_resource "
    "destroy_external_resource register_external_resource register_external_resource_type "
    "deregister_external_resource python_map_function getenv"
)
_NAMES = {
    "postgres": frozenset(_POSTGRES.split()),
    "duckdb": frozenset(_DUCKDB.split()),
    # The first three call any static method of Java.
    "spark": frozenset(("reflect", "java_method", "try_reflect", "transform_with_state")),
}
_BEGINNINGS = {
    "postgres": (
        *("lo_", "dblink", "pg_read_", "pg_ls_", "pg_sleep", "pg_terminate_", "pg_cancel_", "pg_advisory_"),
        *("pg_try_advisory_", "pg_rotate_", "pg_switch_", "pg_create_", "pg_drop_", "pg_copy_", "pg_file_"),
        *("pg_replication_", "pg_logical_", "pg_backup_", "pg_start_", "pg_stop_", "pg_log_", "pg_wal_"),
        "pg_stat_reset",
    ),
    "duckdb": (
        *("enable_", "disable_", "postgres_", "mysql_", "sqlite_", "sleep", "shell", "http_", "create_fts_"),
    ),
    "spark": (),
}
# Volatile functions that are no more than that, in PostgreSQL.
HARMLESS = ("random", "clock_timestamp", "timeofday", "gen_random_uuid", "statement_timestamp")


def acts(name: str, dialect: str) -> bool:
    """Whether a function, by its name in small letters, is known to do more than to compute a value."""
    return name in _NAMES[dialect] or name.startswith(_BEGINNINGS[dialect])
