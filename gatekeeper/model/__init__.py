"""What things are, as frozen values: policy, snapshot, context, decision, event, run, canonical bytes.

Nothing in this room reads a clock, a file, the network, the environment or randomness.
"""
