"""Public formats that prove what a log held: Merkle tree, signed note, checkpoint, inclusion proof.

Bytes in, values out: nothing here knows a file or a clock. Trees and formats need `hashlib` only; keys, signing and
checking signatures need the extra `proof`, which `ed25519` alone imports.
"""
