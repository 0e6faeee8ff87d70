"""Snapshot files and standard input as parts of a snapshot."""
