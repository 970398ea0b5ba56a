"""DuckDB, PostgreSQL and Spark behind one protocol."""
