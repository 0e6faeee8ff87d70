"""The read side of the log: query, group, follow, verify, history. Nothing here writes."""
