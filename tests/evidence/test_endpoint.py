from __future__ import annotations

import pytest

from gatekeeper.errors import CollectionError
from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.web.endpoint import Endpoint, endpoint_of


def taken(text: str) -> tuple[Endpoint, Secrets]:
    """An address taken apart, and what it made secret."""
    secrets = Secrets({})
    return endpoint_of(text, secrets), secrets


def test_userinfo_and_query_reach_neither_the_address_nor_the_record() -> None:
    """What is asked has no credentials in its address; what is recorded says only that there were some."""
    endpoint, _ = taken("https://ci-bot:s3cr3t-EXAMPLE@metrics.example.test/prom?token=tok-EXAMPLE")
    assert endpoint.url == "https://metrics.example.test/prom"
    assert endpoint.credentials == ("ci-bot", "s3cr3t-EXAMPLE")
    assert endpoint.parameters == {"token": ("tok-EXAMPLE",)}
    assert endpoint.shown == "https://***@metrics.example.test/prom?***"


@pytest.mark.parametrize(
    "said",
    [
        "password p@ss/w:rd refused",
        "password p%40ss%2Fw%3Ard refused",
        "password p%40ss%2fw%3ard refused",
        r'{"password": "p@ss\/w:rd"}',
        "Authorization: Basic Y2k6cEBzcy93OnJk",
        "token a b&c refused",
        "GET /?token=a+b%26c",
        "GET /?token=a%20b%26c",
        'token "a b&amp;c"',
    ],
)
def test_a_credential_is_masked_in_every_form_in_which_a_server_may_repeat_it(said: str) -> None:
    """Percent-encoded as written, decoded, in JSON, in HTML, and as basic authentication sends it."""
    _, secrets = taken("https://ci:p%40ss%2Fw%3Ard@host.example/?token=a%20b%26c")
    masked = secrets.mask(said)
    assert "***" in masked
    for part in ("p@ss", "p%40ss", "w:rd", "Y2k6", "b&c", "b%26c", "b&amp;c"):
        assert part not in masked


def test_a_credential_that_was_written_half_encoded_is_masked_as_it_was_written() -> None:
    """It is no form that a library would make, and the one that a redirect or a server's log repeats."""
    _, secrets = taken("https://ci:pa%40ss!wd@host.example/?token=to%2Fk@en!&plus=one+two")
    for said in ("ci:pa%40ss!wd", "pa%40ss!wd", "pa@ss!wd", "to%2Fk@en!", "to/k@en!", "one+two", "one two"):
        assert secrets.mask(said).replace("ci:", "") == "***"


def test_a_token_in_the_place_of_the_user_is_masked() -> None:
    """A user without a password is a token."""
    endpoint, secrets = taken("https://tok-EXAMPLE@host.example")
    assert endpoint.credentials == ("tok-EXAMPLE", "")
    assert secrets.mask("who is tok-EXAMPLE?") == "who is ***?"


def test_a_parameter_without_a_value_is_masked_by_its_name() -> None:
    """`?tok-EXAMPLE` is all token."""
    endpoint, secrets = taken("https://host.example/?tok-EXAMPLE")
    assert endpoint.parameters == {"tok-EXAMPLE": ("",)}
    assert secrets.mask("tok-EXAMPLE?") == "***?"


def test_a_parameter_that_is_stated_twice_keeps_both_values() -> None:
    """`match[]` is stated as often as there are matches."""
    endpoint, _ = taken("https://host.example/?a=1&b=&a=2")
    assert endpoint.parameters == {"a": ("1", "2"), "b": ("",)}


@pytest.mark.parametrize(
    ("text", "url", "base", "address", "shown"),
    [
        ("http://host:9090", "http://host:9090", "http://host:9090", "host:9090", "http://host:9090"),
        ("http://host/", "http://host/", "http://host", "host:80", "http://host/"),
        ("HTTPS://Host/a/b/", "https://Host/a/b/", "https://Host/a/b", "host:443", "https://Host/a/b/"),
        ("https://host/a#part", "https://host/a", "https://host/a", "host:443", "https://host/a"),
        ("http://[::1]:9090/p", "http://[::1]:9090/p", "http://[::1]:9090/p", "[::1]:9090", "http://[::1]:9090/p"),
        ("http://u:p@[::1]/", "http://[::1]/", "http://[::1]", "[::1]:80", "http://***@[::1]/"),
        (" https://host\n", "https://host", "https://host", "host:443", "https://host"),
    ],
)
def test_an_address_keeps_its_host_port_and_path(text: str, url: str, base: str, address: str, shown: str) -> None:
    """Fragments are dropped, a slash at the end stays where it may matter, the port is told in messages."""
    endpoint, _ = taken(text)
    assert (endpoint.url, endpoint.base, endpoint.address, endpoint.shown) == (url, base, address, shown)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s3cr3t-EXAMPLE",
        "ci:s3cr3t-EXAMPLE@host.example/prom",
        "ftp://ci:s3cr3t-EXAMPLE@host.example",
        "unix:///s3cr3t-EXAMPLE.sock",
        "http+unix://s3cr3t-EXAMPLE/prom",
        "https://",
        "https:///s3cr3t-EXAMPLE",
        "https://ci:s3cr3t-EXAMPLE@",
        "https://host:s3cr3t-EXAMPLE",
        "https://host:70000/s3cr3t-EXAMPLE",
        "https://host:0/s3cr3t-EXAMPLE",
        "https://[::1/s3cr3t-EXAMPLE",
        "https://ci:s3cr3t-EXAMPLE/x@host.example",
        "https://ci:1/s3cr3t-EXAMPLE@host.example",
        "https://ci:s3cr3t EXAMPLE@host.example",
        "https://host/s3cr3t\n-EXAMPLE",
    ],
)
def test_an_address_that_cannot_be_asked_is_refused_without_being_quoted(text: str) -> None:
    """Whoever pastes a password into the wrong place must not find it in the job's output."""
    with pytest.raises(CollectionError) as refused:
        endpoint_of(text, Secrets({}), where="/sources/prom/url")
    told = f"{refused.value.message} {refused.value.remedy}"
    assert told.startswith("/sources/prom/url: no usable address (not shown): ")
    assert "s3cr3t" not in told
    assert refused.value.__cause__ is None
