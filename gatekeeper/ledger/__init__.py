"""The file ledger: an append-only NDJSON log, its chain, and the SQLite projection beside it."""
