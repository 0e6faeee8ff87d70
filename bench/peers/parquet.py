"""DuckDB's library: a log as Parquet, and the second question on it.

usage: parquet.py write LOG PARQUET            the whole log, types inferred
       parquet.py write-columns LOG PARQUET    only what gatekeeper's projection holds, types given
       parquet.py count PARQUET                decisions by verdict and reason code
"""

import sys

import duckdb

COLUMNS = (
    "{kind:'VARCHAR', event_id:'VARCHAR', run_id:'VARCHAR', policy_id:'VARCHAR', policy_version:'VARCHAR', "
    "policy_digest:'VARCHAR', stage:'VARCHAR', ts:'VARCHAR', seq:'BIGINT', "
    "decision:'STRUCT(verdict VARCHAR, reason_codes VARCHAR[])'}"
)
COUNT = (
    "select v, k, count(*) from (select decision.verdict v, unnest(case when len(decision.reason_codes) = 0 "
    "then ['-'] else decision.reason_codes end) k from read_parquet('%s') where kind = 'decision') group by all"
)


def main() -> None:
    what, source = sys.argv[1:3]
    if what == "count":
        for row in duckdb.sql(COUNT % source).fetchall():
            print("|".join(map(str, row)))
        return
    given = f", columns={COLUMNS}" if what == "write-columns" else ""
    read = f"select * from read_json('{source}', format='newline_delimited'{given})"
    duckdb.sql(f"copy ({read}) to '{sys.argv[3]}' (format parquet, compression zstd)")


main()
