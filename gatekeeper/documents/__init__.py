"""Reviewed files: a JSON document read strictly into frozen dataclasses, every problem named with its place."""
