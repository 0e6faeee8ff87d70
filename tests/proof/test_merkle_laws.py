"""The tree against one that is written from the definition, and against every change."""

from __future__ import annotations

import tracemalloc
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper.errors import ProofError
from gatekeeper.proof import merkle
from tests.proof.oracle import Tree, root_by_path

LEAVES = [f"leaf {number}".encode() for number in range(4200)]
HASHES = [merkle.leaf_hash(leaf) for leaf in LEAVES]
BY_DEFINITION = Tree(LEAVES)

SIZES = st.integers(0, 200) | st.sampled_from([1023, 1024, 1025, 2047, 2048, 2049, 3000])
BIT = st.integers(0, 255)


def flipped(value: bytes, bit: int) -> bytes:
    """The same bytes but for one bit."""
    return bytes(byte ^ (1 << bit % 8 if place == bit // 8 else 0) for place, byte in enumerate(value))


@st.composite
def placed(draw: st.DrawFn) -> tuple[int, int]:
    """A leaf in a tree: index and size."""
    size = draw(SIZES.filter(bool))
    return draw(st.integers(0, size - 1)), size


@st.composite
def grown(draw: st.DrawFn) -> tuple[int, int]:
    """An old and a new size."""
    size = draw(SIZES)
    return draw(st.integers(0, size)), size


@given(SIZES, st.lists(st.integers(1, 1500), max_size=5))
def test_the_root_does_not_depend_on_how_leaves_arrive(size: int, batches: list[int]) -> None:
    """One by one, in batches of any size, by data or by hash: the tree of the definition."""
    tree = merkle.TreeHasher()
    for batch in batches:
        tree.extend(LEAVES[tree.end : min(tree.end + batch, size)])
    while tree.end < min(size, 300):
        tree.append(LEAVES[tree.end])
    tree.extend_hashes(HASHES[tree.end : size])
    assert tree.root() == merkle.root(iter(LEAVES[:size])) == BY_DEFINITION.root(size)
    assert tree.end == size


@given(st.lists(st.integers(0, 4200), max_size=6), st.booleans())
@example([1, 1, 1024, 2049, 4200], True)
def test_stretches_hashed_apart_join_to_the_same_tree(cuts: list[int], from_the_right: bool) -> None:
    """Several processes hash a part each; what they hand over is a few hashes and two numbers."""
    parts = []
    for begin, end in pairwise(sorted([0, 0, *cuts, 4200])):
        part = merkle.TreeHasher(begin)
        part.extend(LEAVES[begin:end])
        parts.append(merkle.TreeHasher.restored(begin, end, part.subtrees()))
    if from_the_right:
        for part, following in pairwise(reversed(parts)):
            following.join(part)
    else:
        for part in parts[1:]:
            parts[0].join(part)
            assert parts[0].root() == BY_DEFINITION.root(parts[0].end)
    assert (parts[0].end, parts[0].root()) == (4200, BY_DEFINITION.root(4200))


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_stretch_is_described_by_few_hashes_and_by_no_others(begin: int, length: int) -> None:
    """One hash too many or too few, one that is none, or an end before the beginning: refused."""
    part = merkle.TreeHasher(begin)
    part.extend(LEAVES[begin : begin + length])
    subtrees = part.subtrees()
    assert len(subtrees) <= 2 * length.bit_length()
    wrong = [[*subtrees, bytes(32)]]
    if subtrees:
        wrong += [subtrees[:-1], [*subtrees[:-1], bytes(31)]]
    for hashes in wrong:
        with pytest.raises(ProofError, match="hashes of subtrees"):
            merkle.TreeHasher.restored(begin, begin + length, hashes)
    with pytest.raises(ProofError, match="hashes of subtrees"):
        merkle.TreeHasher.restored(begin + 1, begin, [])


@given(placed(), BIT, st.integers(0, 40))
def test_an_inclusion_proof_proves_its_leaf_and_nothing_else(place: tuple[int, int], bit: int, which: int) -> None:
    """Proofs are those of the definition; a changed bit anywhere, another index, a longer or shorter way: refused."""
    index, size = place
    leaf, root = HASHES[index], BY_DEFINITION.root(size)
    proof = merkle.inclusion_proof(iter(HASHES), index, size)
    assert proof == BY_DEFINITION.path(index, 0, size)
    assert root_by_path(leaf, index, size, proof) == root
    assert merkle.verify_inclusion(leaf, index, size, proof, root)
    assert not merkle.verify_inclusion(flipped(leaf, bit), index, size, proof, root)
    assert not merkle.verify_inclusion(leaf, index, size, proof, flipped(root, bit))
    assert not merkle.verify_inclusion(leaf, index, size, [*proof, root], root)
    assert not merkle.verify_inclusion(leaf, index, size, [*proof, b""], root)
    assert not merkle.verify_inclusion(leaf, index + size, size, proof, root)
    assert not merkle.verify_inclusion(leaf, index - size, size, proof, root)
    if proof:
        wrong = which % len(proof)
        assert not merkle.verify_inclusion(
            leaf, index, size, [*proof[:wrong], flipped(proof[wrong], bit), *proof[wrong + 1 :]], root
        )
        assert not merkle.verify_inclusion(leaf, index, size, proof[:-1], root)
    other = (index + 1 + which) % size
    assert merkle.verify_inclusion(leaf, other, size, proof, root) == (other == index)


@given(grown(), BIT, st.integers(0, 40))
def test_a_consistency_proof_proves_its_two_trees_and_nothing_else(
    sizes: tuple[int, int], bit: int, which: int
) -> None:
    """Proofs are those of the definition; a changed bit anywhere, swapped trees, a longer or shorter proof: refused."""
    old, size = sizes
    old_root, root = BY_DEFINITION.root(old), BY_DEFINITION.root(size)
    proof = merkle.consistency_proof(iter(HASHES), old, size)
    assert proof == BY_DEFINITION.consistency(old, size)
    assert merkle.verify_consistency(old, size, old_root, root, proof)
    assert not merkle.verify_consistency(old, size, flipped(old_root, bit), root, proof)
    assert not merkle.verify_consistency(old, size, old_root, root, [*proof, root])
    if old:  # any tree continues the empty one
        assert not merkle.verify_consistency(old, size, old_root, flipped(root, bit), proof)
    if old != size:
        assert not merkle.verify_consistency(size, old, root, old_root, proof)
    if proof:
        wrong = which % len(proof)
        assert not merkle.verify_consistency(
            old, size, old_root, root, [*proof[:wrong], flipped(proof[wrong], bit), *proof[wrong + 1 :]]
        )
        assert not merkle.verify_consistency(old, size, old_root, root, proof[:-1])
        assert not merkle.verify_consistency(old, size, old_root, root, [])


@pytest.mark.slow
@pytest.mark.parametrize("begin", range(0, 201, 20))
def test_all_proofs_in_all_trees_of_up_to_200_leaves(begin: int) -> None:
    """Every index and every older size, of every size: there are shapes that chance rarely draws."""
    for size in range(begin, min(begin + 20, 201)):
        root = BY_DEFINITION.root(size)
        for index in range(size):
            proof = merkle.inclusion_proof(HASHES, index, size)
            assert proof == BY_DEFINITION.path(index, 0, size)
            assert merkle.verify_inclusion(HASHES[index], index, size, proof, root)
        for old in range(size + 1):
            proof = merkle.consistency_proof(HASHES, old, size)
            assert proof == BY_DEFINITION.consistency(old, size)
            assert merkle.verify_consistency(old, size, BY_DEFINITION.root(old), root, proof)


def test_a_rewritten_log_is_no_continuation() -> None:
    """Another leaf among the old ones: no proof from the new tree fits the old root."""
    changed = Tree([*LEAVES[:5], b"forged", *LEAVES[6:100]])
    for old in range(6, 100):
        proof = changed.consistency(old, 100)
        assert not merkle.verify_consistency(old, 100, BY_DEFINITION.root(old), changed.root(), proof)
        assert not merkle.verify_consistency(
            old, 100, BY_DEFINITION.root(old), changed.root(), BY_DEFINITION.consistency(old, 100)
        )


def test_bytes_that_are_no_hash_prove_nothing() -> None:
    """A byte moved from the leaf to its sibling gives the same node; two empty roots are equal."""
    leaf, root = HASHES[1], BY_DEFINITION.root(2)
    assert merkle.verify_inclusion(leaf, 1, 2, [HASHES[0]], root)
    assert not merkle.verify_inclusion(leaf[1:], 1, 2, [HASHES[0] + leaf[:1]], root)
    assert not merkle.verify_inclusion(b"", 0, 1, [], b"")
    assert not merkle.verify_consistency(5, 5, b"", b"", [])


def test_a_proof_for_leaves_that_are_not_there_is_refused() -> None:
    """A log that is shorter than its checkpoint, an index beyond the tree, an old tree larger than the new one."""
    with pytest.raises(ProofError, match="there are 5 leaves, not 6"):
        merkle.inclusion_proof(HASHES[:5], 2, 6)
    with pytest.raises(ProofError, match="there are 2 leaves, not 6"):
        merkle.inclusion_proof(HASHES[:2], 2, 6)
    with pytest.raises(ProofError, match="there are 5 leaves, not 6"):
        merkle.consistency_proof(HASHES[:5], 2, 6)
    for index, size in ((6, 6), (-1, 6), (0, 0)):
        with pytest.raises(ProofError, match="has no leaf"):
            merkle.inclusion_proof(HASHES, index, size)
    for old, size in ((7, 6), (-1, 6)):
        with pytest.raises(ProofError, match="no part of"):
            merkle.consistency_proof(HASHES, old, size)


def test_proving_holds_no_list_of_hashes() -> None:
    """A log of millions of lines: memory is that of a block, whatever the length (100,000 hashes are 6.5 MB)."""
    leaves = (sha256(number.to_bytes(4)).digest() for number in range(100_000))
    tracemalloc.start()
    try:
        proof = merkle.inclusion_proof(leaves, 54_321, 100_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(proof) == 17
    assert peak < 600_000
