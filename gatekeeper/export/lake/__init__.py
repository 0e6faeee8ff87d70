"""The log as Parquet files in directories by date, for DuckDB, Spark, Trino and warehouses."""
