"""Sources that are databases."""
