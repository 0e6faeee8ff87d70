"""The PostgreSQL ledger: one log in one database, for teams whose runners share no disk.

`ledger` is the port; `session` the connection, `failures` what its errors mean; `preparing`, `writing` and `fold` an
append; `view` and `event_index` the reading; `taking_in` whole logs; `layout`, `migrations` and `migrating` the tables.
"""
