"""The tree against vectors that others published, and trees written out by hand."""

from __future__ import annotations

from hashlib import sha256

import pytest

from gatekeeper.proof import merkle

LEAVES = [
    bytes.fromhex(leaf)
    for leaf in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
"""The leaves that implementations of RFC 6962 are tested with."""

ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]

L1 = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
L2_3 = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
L4_7 = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
L4 = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
L6_7 = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
L4_5 = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
INCLUSION = [
    (0, 1, []),
    (0, 8, [L1, L2_3, L4_7]),
    (5, 8, [L4, L6_7, ROOTS[4]]),
    (2, 3, [ROOTS[2]]),
    (1, 5, [ROOTS[1], L2_3, L4]),
]
CONSISTENCY = [
    (1, 1, []),
    (1, 8, [L1, L2_3, L4_7]),
    (6, 8, [L4_5, L6_7, ROOTS[4]]),
    (2, 5, [L2_3, L4]),
]


@pytest.mark.parametrize("size", range(9))
def test_the_root_is_that_of_the_rfc(size: int) -> None:
    """Roots of all sizes of the published leaves, in one go and one by one."""
    assert merkle.root(LEAVES[:size]).hex() == ROOTS[size]
    tree = merkle.TreeHasher()
    for leaf in LEAVES[:size]:
        tree.append(leaf)
    assert (tree.end, tree.root().hex()) == (size, ROOTS[size])


@pytest.mark.parametrize(("index", "size", "expected"), INCLUSION)
def test_an_inclusion_proof_has_the_siblings_of_the_rfc(index: int, size: int, expected: list[str]) -> None:
    """The order of siblings is part of the format."""
    hashes = [merkle.leaf_hash(leaf) for leaf in LEAVES]
    proof = merkle.inclusion_proof(hashes, index, size)
    assert [sibling.hex() for sibling in proof] == expected
    assert merkle.verify_inclusion(hashes[index], index, size, proof, bytes.fromhex(ROOTS[size]))


@pytest.mark.parametrize(("old", "size", "expected"), CONSISTENCY)
def test_a_consistency_proof_has_the_subtrees_of_the_rfc(old: int, size: int, expected: list[str]) -> None:
    """A complete old tree is not repeated in its own proof."""
    hashes = [merkle.leaf_hash(leaf) for leaf in LEAVES]
    proof = merkle.consistency_proof(hashes, old, size)
    assert [subtree.hex() for subtree in proof] == expected
    assert merkle.verify_consistency(old, size, bytes.fromhex(ROOTS[old]), bytes.fromhex(ROOTS[size]), proof)


def test_leaves_and_nodes_cannot_be_taken_for_each_other() -> None:
    """Three leaves written out; the hash of a node is not that of a leaf with the same bytes."""
    a, b, c = (sha256(b"\x00" + leaf).digest() for leaf in (b"a", b"b", b"c"))
    ab = sha256(b"\x01" + a + b).digest()
    assert merkle.root([b"a", b"b", b"c"]) == sha256(b"\x01" + ab + c).digest()
    assert merkle.root([a + b, b"c"]) != merkle.root([b"a", b"b", b"c"])


def test_a_line_is_a_leaf_by_its_digest() -> None:
    """The leaf holds the digest that the next line's `prev` states, as bytes (the value is that of `sha256sum`)."""
    assert merkle.line_leaf(b'{"seq":1}').hex() == "b41e95c43f388d561b146326d84e3a6b9e31c4ef32ab97c04774c31aada3246a"
