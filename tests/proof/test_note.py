"""Signed notes: what is read, what is refused, and whose word counts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.errors import ProofError
from gatekeeper.proof import note as notes
from gatekeeper.proof.keys import load_signing_key
from gatekeeper.proof.note import VerifierKey, open_note, parse_note, parse_vkey, sign_note
from tests.proof import oracle
from tests.proof.samples import GO_SIGNATURE, GO_SIGNER, GO_TEXT, GO_VKEY, signing_key

VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
NOTE = """This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
""".encode()
"""The example of c2sp.org/signed-note."""

SEEDS = {
    name: bytes([number]) * 32 for number, name in enumerate(("log.example/a", "log.example/b", "witness.example"))
}
TEXT = "log.example/a\n3\n"
LINE = b"\xe2\x80\x94 example.com/foo "


def key_of(name: str) -> VerifierKey:
    """The public key of one of the signers."""
    return signing_key(name, SEEDS[name]).verifier


def lines_of(*names: str, text: str = TEXT) -> list[bytes]:
    """The signature lines of these signers."""
    return [oracle.signed(name, SEEDS[name], text).splitlines(keepends=True)[-1] for name in names]


def test_the_note_of_the_specification_opens() -> None:
    """The published note, the published key."""
    opened = open_note(NOTE, [parse_vkey(VKEY)])
    assert (opened.text, [key.vkey for key in opened.signers]) == ("This is an example message.\n", [VKEY])


def test_notes_are_those_of_go() -> None:
    """The same key signs the same text with the same bytes as Go's library; its other published key is read."""
    key = load_signing_key(GO_SIGNER)
    assert key.verifier.vkey == GO_VKEY
    assert sign_note(GO_TEXT, key).decode() == f"{GO_TEXT}\n— PeterNeumann {GO_SIGNATURE}\n"
    sum_database = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
    assert parse_vkey(sum_database).vkey == sum_database


@given(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters=[chr(code) for code in range(32)]) | st.just("\n")
    ),
    st.sampled_from(sorted(SEEDS)),
)
def test_any_text_signed_here_opens_there_and_the_other_way_round(text: str, name: str) -> None:
    """Blank lines, em dashes, line separators of Unicode: both programs mean the same bytes."""
    text += "\n"
    ours, theirs = sign_note(text, signing_key(name, SEEDS[name])), oracle.signed(name, SEEDS[name], text)
    vkey = oracle.vkey_of(name, key_of(name).public)
    assert ours == theirs
    assert oracle.note_text(ours, vkey) == text.encode()
    opened = open_note(theirs, [parse_vkey(vkey)])
    assert (opened.text, opened.signers) == (text, (key_of(name),))


def test_no_bit_of_a_note_may_change() -> None:
    """Each of its bits: refused here as by the independent reader."""
    for place in range(len(NOTE) * 8):
        changed = bytearray(NOTE)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(ProofError):
            open_note(bytes(changed), [parse_vkey(VKEY)])
        assert oracle.note_text(bytes(changed), VKEY) is None


def test_signatures_of_strangers_are_ignored() -> None:
    """Also where a stranger has the name of a known key, or its id; a witness's other type of signature as well."""
    stranger = oracle.signature_line("log.example/a", b"abcd", bytes(64))
    same_id = oracle.signature_line("else.example", key_of("log.example/a").key_id, bytes(64))
    longer = oracle.signature_line("witness.example", b"wxyz", bytes(2420 + 8))
    data = b"".join([TEXT.encode(), b"\n", stranger, same_id, longer, *lines_of("log.example/a", "log.example/b")])
    opened = open_note(data, [key_of("log.example/a"), key_of("witness.example")])
    assert opened.signers == (key_of("log.example/a"),)


def test_a_note_that_no_known_key_signed_is_refused() -> None:
    """Well signed, by somebody else; and nothing is trusted where no key is given."""
    data = TEXT.encode() + b"\n" + lines_of("log.example/b")[0]
    with pytest.raises(ProofError, match=r"log\.example/b \([0-9a-f]{8}\) did, known: log\.example/a \("):
        open_note(data, [key_of("log.example/a")])
    with pytest.raises(ProofError, match="known: none"):
        open_note(data, [])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_wrong_signature_of_one_known_key_is_not_outweighed_by_another(order: tuple[int, int]) -> None:
    """Somebody put the note together: the good signature must not cover the bad one."""
    lines = [*lines_of("log.example/a"), *lines_of("log.example/b", text="another\n")]
    data = TEXT.encode() + b"\n" + b"".join(lines[place] for place in order)
    with pytest.raises(ProofError, match=r"log\.example/b .* is not one of this text"):
        open_note(data, [key_of("log.example/a"), key_of("log.example/b")])
    assert open_note(data, [key_of("log.example/a")]).text == TEXT


def test_a_second_signature_of_the_same_key_is_checked_too() -> None:
    """A right one before it does not make a wrong one right; twice the right one is one signer."""
    (good,), (bad,) = lines_of("log.example/a"), lines_of("log.example/a", text="another\n")
    keys = [key_of("log.example/a")] * 2
    assert open_note(TEXT.encode() + b"\n" + good + good, keys).signers == (keys[0],)
    with pytest.raises(ProofError, match="is not one of this text"):
        open_note(TEXT.encode() + b"\n" + good + bad, keys)


def test_two_keys_that_look_like_one_are_refused() -> None:
    """Four bytes of id collide after 50,000 tries; which of the two is meant must not be left to their order."""
    keys = [VerifierKey("a.example/log", number.to_bytes(32)) for number in (694, 52552)]
    assert keys[0].key_id == keys[1].key_id
    with pytest.raises(ProofError, match="two keys named"):
        open_note(NOTE, keys)


@pytest.mark.parametrize("count", [1, 16, 100])
def test_many_signatures_are_read(count: int) -> None:
    """Sixteen must be; the known one may stand last."""
    strangers = [oracle.signature_line(f"w{number}.example", b"wxyz", bytes(64)) for number in range(count - 1)]
    data = TEXT.encode() + b"\n" + b"".join([*strangers, *lines_of("log.example/a")])
    assert len(parse_note(data).signatures) == count
    assert open_note(data, [key_of("log.example/a")]).signers


MALFORMED = {
    "nothing": b"",
    "no signature": b"text\n",
    "no empty line": b"text\n" + NOTE[-120:].partition(b"\n\n")[2],
    "no signature after the empty line": b"text\n\n",
    "an empty line at the end": NOTE + b"\n",
    "no newline at the end": NOTE[:-1],
    "a line that is no signature": NOTE + b"text\n",
    "carriage returns": NOTE.replace(b"\n", b"\r\n"),
    "a tab in the text": NOTE.replace(b"This is", b"This\tis"),
    "a zero byte": NOTE.replace(b"This is", b"This\0is"),
    "an escape": NOTE.replace(b"This is", b"\x1b[2J"),
    "not UTF-8": NOTE.replace(b"This is", b"This\xffis"),
    "a hyphen for the dash": NOTE.replace(b"\xe2\x80\x94", b"-"),
    "an en dash": NOTE.replace(b"\xe2\x80\x94", b"\xe2\x80\x93"),
    "no space after the dash": NOTE.replace(b"\xe2\x80\x94 ", b"\xe2\x80\x94"),
    "two spaces before the name": NOTE.replace(LINE, LINE.replace(b" ex", b"  ex")),
    "two spaces after the name": NOTE.replace(LINE, LINE + b" "),
    "a space at the line's end": NOTE[:-1] + b" \n",
    "a plus in the name": NOTE.replace(LINE, LINE.replace(b"/", b"+")),
    "a no-break space in the name": NOTE.replace(LINE, LINE.replace(b"/", "\u00a0".encode())),
    "no name": NOTE.replace(LINE, b"\xe2\x80\x94 "),
    "no signature's text": NOTE.replace(LINE, LINE + b"\n" + LINE),
    "a key id and no signature": b"text\n\n" + LINE + b"Uw2QOg==\n",
    "half a key id": b"text\n\n" + LINE + b"Uw2Q\n",
    "base64 without padding": NOTE.replace(b"M=\n", b"M\n"),
    "base64 with bits left over": NOTE.replace(b"M=\n", b"N=\n"),
    "base64 for addresses": NOTE.replace(b"Uw2QOkn8", b"Uw2QOkn-"),
    "a stranger's line with bits left over": NOTE + b"\xe2\x80\x94 else.example QUJDREU9QR==\n",
    "101 signatures": b"text\n\n" + NOTE.partition(b"\n\n")[2] * 101,
    "two megabytes": b"x" * (2 << 20) + NOTE,
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_note_in_another_form_is_refused(case: str) -> None:
    """Nobody signs it this way, so nobody may mean something else by it."""
    with pytest.raises(ProofError):
        parse_note(MALFORMED[case])
    if case != "two megabytes":
        assert len(MALFORMED[case]) < notes.MAX_NOTE_BYTES


@given(
    st.binary(max_size=200)
    | st.tuples(st.integers(0, len(NOTE)), st.binary(max_size=4)).map(
        lambda edit: NOTE[: edit[0]] + edit[1] + NOTE[edit[0] + len(edit[1]) :]
    )
)
def test_bytes_of_any_kind_are_refused_in_words(data: bytes) -> None:
    """Not with an error that nobody expects."""
    try:
        opened = open_note(data, [parse_vkey(VKEY)])
    except ProofError:
        return
    assert data == NOTE
    assert opened.text.endswith("\n")


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u2028b", "a\u00a0b", "a\tb", "a\nb", "a\x00b", "\ud800"])
def test_a_name_that_breaks_the_format_is_refused(name: str) -> None:
    """A space or plus in it would end it early."""
    with pytest.raises(ProofError, match="not a name for a key"):
        VerifierKey(name, bytes(32))


def test_a_name_of_other_letters_is_taken() -> None:
    """Any letters but spaces and plus."""
    key = VerifierKey("störfall.example/日誌", key_of("log.example/a").public)
    assert parse_vkey(key.vkey) == key
    assert key.vkey == oracle.vkey_of("störfall.example/日誌", key.public)


MALFORMED_VKEYS = {
    "empty": ("", "not a verifier key"),
    "a name only": ("example.com/foo", "not a verifier key"),
    "without its id": ("example.com/foo+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k", "not a verifier key"),
    "an id of seven digits": (VKEY.replace("530d903a", "530d903"), "not a verifier key"),
    "an id in another script": (VKEY.replace("530d903a", "\u0665\u0663\u0660d903a"), "not a verifier key"),
    "an id with a sign": (VKEY.replace("530d903a", "+30d903a"), "not a verifier key"),
    "another id": (VKEY.replace("530d903a", "530d903b"), "has id 530d903a, not 530d903b"),
    "another name": (VKEY.replace("foo", "bar"), "has id"),
    "no key": ("example.com/foo+530d903a+", "not a verifier key"),
    "half a key": (VKEY[:-20], r"32 bytes, not 17"),
    "no base64": (VKEY.replace("Aeky", "Ae!y"), "not a verifier key"),
    "a witness's type of key": (VKEY.replace("+Aeky", "+BOky"), "key of type 4"),
    "an empty name": (VKEY.removeprefix("example.com/foo"), "not a name"),
    "a name with a space": (VKEY.replace("/", " "), "not a name"),
}


@pytest.mark.parametrize("case", MALFORMED_VKEYS)
def test_a_verifier_key_in_another_form_is_refused(case: str) -> None:
    """A mistyped key must not wait silently for signatures that never come."""
    text, reason = MALFORMED_VKEYS[case]
    with pytest.raises(ProofError, match=reason):
        parse_vkey(text)


@pytest.mark.parametrize("text", ["", "no newline", "a tab\t\n", "\r\n", "\x7f\x00\n", "\ud800\n"])
def test_a_text_that_no_note_can_hold_is_not_signed(text: str) -> None:
    """What is signed can be read again."""
    with pytest.raises(ProofError):
        sign_note(text, signing_key("log.example/a", SEEDS["log.example/a"]))


def test_the_error_shows_no_more_than_a_line_of_foreign_text() -> None:
    """A hostile file must not fill the terminal."""
    with pytest.raises(ProofError) as caught:
        parse_note(b"text\n\n" + b"x" * 100_000 + b"\n")
    assert len(caught.value.message) < 300
    assert not re.search(r"[\x00-\x1f]", caught.value.message)
