"""The git ledger: a log on a branch of its own, one commit per append, pushed only onto the commit that was read."""
