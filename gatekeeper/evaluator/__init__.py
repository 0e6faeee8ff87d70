"""The pure judge: (policy, snapshot, context) -> decision, the same bytes on every machine."""
