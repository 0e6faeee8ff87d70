"""The review of a collection file that loads."""
