"""Credentials in addresses never come out, however they were pasted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.model.masking import mask_addresses, mask_text, mask_url


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://ci:secret@host/p?token=x", "https://***@host/p?***"),
        ("https://host/p", "https://host/p"),
        ("https://host:9090/api/v1/query", "https://host:9090/api/v1/query"),
        ("https://[::1]:9090/p", "https://[::1]:9090/p"),
        ("https://[::1]/p", "https://[::1]/p"),
        ("https://token@host/p", "https://***@host/p"),
        ("https://host/p#access_token=x", "https://host/p#***"),
        ("https://host?a=1#b", "https://host?***#***"),
        ("postgres://u:p/w@db/app", "postgres://***@db/app"),
        ("https://u:p?w@host/x", "https://***@host/x"),
        ("https://u:p@w@host/x", "https://***@host/x"),
        ("https://host/pkg@1.2/x", "https://host/pkg@1.2/x"),
        ("https://host:9090/pkg@1.2", "https://host:9090/pkg@1.2"),
        ("https://[::1]/pkg@1.2", "https://[::1]/pkg@1.2"),
        ("//u:p@host/x", "//***@host/x"),
        ("u:p@host/x?k=v", "***@host/x?***"),
        ("no address at all", "no address at all"),
        ("", ""),
    ],
)
def test_no_credential_is_left_in_an_address(url: str, masked: str) -> None:
    """Userinfo, query and fragment go; host and path stay."""
    assert mask_url(url) == masked


def test_a_runbook_can_still_be_followed() -> None:
    """Its query is part of the address, its userinfo is not."""
    assert mask_url("https://u:p@wiki/x?id=4", keep_query=True) == "https://***@wiki/x?id=4"


def test_addresses_inside_a_message_are_masked_and_its_words_are_not() -> None:
    """An error of an HTTP library names the whole address."""
    text = "GET https://u:p@h/q?t=1 failed; see 'http://ok.example/a'"
    assert mask_text(text) == "GET https://***@h/q?*** failed; see 'http://ok.example/a'"


def test_only_addresses_are_touched_in_a_snapshot_and_the_event_is_not_changed() -> None:
    """`endpoint` and `url` at any depth; the same words elsewhere are data."""
    given_part = {"observations": {"m": {"endpoint": "https://u:p@h", "query": "a?b"}}, "l": [{"url": "https://h?x"}]}
    masked = mask_addresses(given_part)
    assert masked == {
        "observations": {"m": {"endpoint": "https://***@h", "query": "a?b"}},
        "l": [{"url": "https://h?***"}],
    }
    assert given_part["observations"] == {"m": {"endpoint": "https://u:p@h", "query": "a?b"}}


@given(st.text(max_size=40) | st.from_regex(r"https?://[a-z:@/?#.]{0,30}", fullmatch=True))
def test_masking_twice_changes_nothing(url: str) -> None:
    """Written masked, shown masked: the same."""
    once = mask_url(url)
    assert mask_url(once) == once
