from __future__ import annotations

import threading

import pytest

from gatekeeper.errors import UsageError
from gatekeeper.evidence.secrets import Secrets, blanked, is_credential_header, names_variable


def test_each_variable_is_replaced_where_it_stands() -> None:
    """A text may hold several variables and other text around them."""
    secrets = Secrets({"HOST": "h.example", "PORT_2": "9090"})
    assert secrets.expand("http://${HOST}:${PORT_2}/$x/${}/$HOST", where="/x") == "http://h.example:9090/$x/${}/$HOST"


@pytest.mark.parametrize("environ", [{}, {"NAME": ""}])
def test_an_unset_or_empty_variable_stops_the_collection_before_anything_is_sent(environ: dict[str, str]) -> None:
    """A job without its secret must not ask anonymously and take the answer for evidence."""
    with pytest.raises(UsageError) as refused:
        Secrets(environ).expand("Bearer ${NAME}", where="/sources/prom/headers/Authorization")
    assert refused.value.exit_code == 64
    assert refused.value.message == ("/sources/prom/headers/Authorization: the environment variable NAME is not set")


def test_a_variable_that_is_no_text_is_wrong_usage_and_no_bug() -> None:
    """`os.environ` keeps a byte that is no UTF-8 as half a surrogate pair, which nothing can send."""
    with pytest.raises(UsageError) as refused:
        Secrets({"NAME": "abc\udcff"}).expand("http://h/${NAME}", where="/x", is_address=True)
    assert refused.value.message == "/x: the environment variable NAME holds bytes that are no UTF-8"


def test_what_a_variable_holds_is_not_expanded_again() -> None:
    """Whoever may set one variable must not be able to read another through it."""
    assert Secrets({"A": "${B}", "B": "b"}).expand("${A}", where="/x") == "${B}"


def test_a_variable_that_is_named_like_a_credential_is_masked_wherever_it_is_used() -> None:
    """A token may be part of a path; its name is all that tells."""
    secrets = Secrets({"HOOK_TOKEN": "tok-EXAMPLE", "TENANT": "shop"})
    assert secrets.expand("http://h/${TENANT}/${HOOK_TOKEN}", where="/x") == "http://h/shop/tok-EXAMPLE"
    assert secrets.mask("404: /shop/tok-EXAMPLE") == "404: /shop/***"


@pytest.mark.parametrize(
    "said",
    [
        "Bearer hdr EXAMPLE/1+2",
        "only EXAMPLE/1+2",
        "EXAMPLE%2F1%2B2",
        "EXAMPLE%2f1%2b2",
        r'"EXAMPLE\/1+2"',
        "Bearer+hdr+EXAMPLE%2F1%2B2",
        "Bearer%20hdr%20EXAMPLE%2F1%2B2",
    ],
)
def test_a_secret_is_masked_whole_word_by_word_and_encoded(said: str) -> None:
    """A server echoes a header whole, its token alone, or either of them as an address or JSON writes it."""
    secrets = Secrets({})
    secrets.hide("Bearer hdr EXAMPLE/1+2")
    assert secrets.mask(said) in {"***", "only ***", '"***"'}


def test_a_secret_with_quotes_and_other_letters_is_masked_as_json_and_html_write_them() -> None:
    """Bodies of errors are JSON or HTML."""
    secrets = Secrets({})
    secrets.hide('pä"ss<1>')
    for said in (
        r'{"p": "pä\"ss<1>"}',
        r'{"p": "p\u00e4\"ss<1>"}',
        "<b>pä&quot;ss&lt;1&gt;</b>",
        "p%C3%A4%22ss%3C1%3E",
    ):
        masked = secrets.mask(said)
        assert "ss" not in masked
        assert "***" in masked


def test_a_secret_is_masked_in_any_case() -> None:
    """Servers and proxies echo a header in capitals, or a host in small letters."""
    secrets = Secrets({})
    secrets.hide("Tok-Example")
    assert secrets.mask("TOK-EXAMPLE tok-example") == "*** ***"


def test_every_part_of_an_address_from_the_environment_is_masked() -> None:
    """A path may be a token, whatever the variable is called; an address of its own is read as one."""
    environ = {"WHERE": "s3cret-path", "BASE": "http://h.example", "NAME": "db.example", "SITE": "https://x.example"}
    secrets = Secrets(environ)
    assert secrets.expand("${BASE}/${WHERE}", where="/x", is_address=True) == "http://h.example/s3cret-path"
    secrets.expand("${SITE}", where="/x", is_address=True)
    secrets.expand("${NAME}", where="/x")
    said = "S3CRET-PATH at h.example, db.example and x.example"
    assert secrets.mask(said) == "*** at h.example, db.example and x.example"
    secrets.expand("http://${NAME}:1", where="/x", is_address=True)
    assert secrets.mask(said) == "*** at h.example, *** and x.example"
    assert secrets.mask_host("db.example:1") == "***:1"


def test_the_longer_secret_is_masked_first() -> None:
    """A secret that begins like another one would otherwise leave its tail behind."""
    secrets = Secrets({})
    secrets.hide("token", "token-EXAMPLE-tail")
    assert secrets.mask("token-EXAMPLE-tail") == "***"


def test_a_login_is_masked_as_basic_authentication_sends_it() -> None:
    """`echo -n ci:s3cr3t | base64` is Y2k6czNjcjN0."""
    secrets = Secrets({})
    secrets.hide_login("ci", "s3cr3t")
    assert secrets.mask("Basic Y2k6czNjcjN0 of ci: s3cr3t") == "Basic *** of ci: ***"


def test_short_texts_garble_no_message() -> None:
    """`?v=1` must not turn every 1 into a mask."""
    secrets = Secrets({})
    secrets.hide("1", "abc")
    assert secrets.mask("HTTP 401: abc") == "HTTP 401: abc"


def test_a_text_of_several_lines_becomes_one_and_addresses_lose_their_credentials() -> None:
    """A log line and an annotation are one line; an address that nobody declared may hold a password too."""
    said = "bad\n gateway\r\n\tat http://u:other-pw@host/p?k=v "
    assert Secrets({}).mask(said) == "bad gateway at http://***@host/p?***"


def test_half_a_surrogate_pair_cannot_make_a_snapshot_that_has_no_digest() -> None:
    """JSON can state one with an escape; UTF-8 cannot, and the log line would fail."""
    assert Secrets({}).mask("bad \ud800 text").encode() == b"bad ? text"


def test_no_secret_is_lost_when_threads_hide_at_once() -> None:
    """Sources run in threads of their own; a lost one would be printed."""
    secrets = Secrets({})
    names = [f"secret-{number:04}-x" for number in range(400)]
    start = threading.Barrier(4, timeout=10)

    def hide(part: int) -> None:
        start.wait()
        for name in names[part::4]:
            secrets.hide(name)

    threads = [threading.Thread(target=hide, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert secrets.mask(" ".join(names)) == " ".join(["***"] * 400)


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "X-Api-Key", "PRIVATE-TOKEN", "Cookie", "x-session-id"),
        *("x-sig", "SIG", "X-Hub-Signature", "X-Jwt", "X-Amz-Date"),
    ],
)
def test_a_header_that_carries_a_credential_is_known_by_its_name(name: str) -> None:
    """Its literal value is refused in a reviewed file."""
    assert is_credential_header(name)


def test_an_ordinary_header_is_no_credential() -> None:
    """Accept and the tenant of a store are reviewed with the file."""
    assert not any(map(is_credential_header, ["Accept", "X-Scope-OrgID", "User-Agent", "X-Design", "X-Bypass"]))


def test_what_a_file_states_itself_is_told_from_what_the_environment_fills_in() -> None:
    """The rules of addresses look at the file's own letters only."""
    assert names_variable("a${B}c")
    assert not names_variable("a$B{c}")
    assert blanked("a${B}c", "0") == "a0000c"
