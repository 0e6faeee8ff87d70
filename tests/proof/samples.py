"""Keys and notes that others made, and keys for tests."""

from __future__ import annotations

import base64

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gatekeeper.proof.keys import SigningKey, load_signing_key

ORIGIN = "gatekeeper.example/prod"
SEED = bytes(range(32))
VKEY = "gatekeeper.example/prod+b6f2808a+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
NOTE = """\
gatekeeper.example/prod
3
PbZ2Ze6owm3jQWaMHTGZ9h3kt4CoKFaaiYzkjCjZMfM=

— gatekeeper.example/prod \
tvKAitjgEc/0Cbmw2m0NORL980lhQvmYRvtcoFejxcIXiL9qZ03YcR172HDZ/Qo2p+i7GlTe8Sg4Xz1R4v8eUZyPGgA=
""".encode()
"""Made by another program: seed 00..1f, leaves `{"seq":0}`, `{"seq":1}`, `{"seq":2}`."""

ROOT = base64.b64decode("PbZ2Ze6owm3jQWaMHTGZ9h3kt4CoKFaaiYzkjCjZMfM=")


def signing_key(name: str, seed: bytes = SEED) -> SigningKey:
    """The key that 32 bytes make, under a name."""
    private = Ed25519PrivateKey.from_private_bytes(seed)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return load_signing_key(pem, name=name)


GO_SIGNER = b"PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
GO_VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
GO_SIGNATURE = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
"""The example of golang.org/x/mod/sumdb/note."""

NAME = "log.example/a"


def openssh(body: str) -> bytes:
    """A private key file around these lines."""
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n".encode()


PLAIN = openssh("""\
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACDsXhkr2SB822EP3sZi6SM9HbljHhnCZEPNy8qnMbxenQAAAIiqNtRgqjbU
YAAAAAtzc2gtZWQyNTUxOQAAACDsXhkr2SB822EP3sZi6SM9HbljHhnCZEPNy8qnMbxenQ
AAAEDpLt278RhGdmKHHJStOl60tVNDtgViqTwssSR3pwAdSOxeGSvZIHzbYQ/exmLpIz0d
uWMeGcJkQ83LyqcxvF6dAAAABHRlc3QB""")
PLAIN_LINE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOxeGSvZIHzbYQ/exmLpIz0duWMeGcJkQ83LyqcxvF6d test\n"
LOCKED = openssh("""\
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABB6JJTfYv
DHlxK9vII6N+lIAAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIKuLL0P/ipexdkHp
DrqMnEgRS8/cXBMz0tupolAS1YuSAAAAkPtQN9fUQccKQuXrSJj/w/zX4dctiudbbR6qRt
HFDMDCDeFK5vqqXkV8+cL7vDbMhXjP5v6pFbLnViqJZowTIH9/RHsfzNsaEPzWmTVaboPd
JXwSEXGjhCMtXgvqBMPnHriV+0CLWwtw4+g+EUUHea7b5+mklZasmOwd1VdeKpJnBqbybD
uQpIgFelNcb7cMGQ==""")
LOCKED_LINE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKuLL0P/ipexdkHpDrqMnEgRS8/cXBMz0tupolAS1YuS test\n"
"""Made for this test by OpenSSH 9.2: `ssh-keygen -t ed25519 -C test`, the second with the passphrase `open sesame`."""
