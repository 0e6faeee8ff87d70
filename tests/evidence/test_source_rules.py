"""Credentials stand in the environment: one in the file is refused, and the refusal does not repeat it."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.evidence.collection_file.loading import check_collection
from tests.evidence.collections import FULL, errors, refusal
from tests.review.documents import changed, encoded

SECRET = "hunter2-7Qx"

LITERAL: list[tuple[str, str]] = [
    ("sources/prom/url", f"https://gate:{SECRET}@metrics.example.com"),
    ("sources/prom/url", f"https://{SECRET}@metrics.example.com"),
    ("sources/prom/url", f"https://{SECRET}:@metrics.example.com"),
    ("sources/prom/url", f"https://gate:${{USER}}{SECRET}@metrics.example.com"),
    ("sources/prom/url", f"https://gate:a/{SECRET}@metrics.example.com"),
    ("sources/prom/url", f"https://gate:a@{SECRET}@metrics.example.com"),
    ("sources/prom/url", f"${{SCHEME}}://gate:{SECRET}@metrics.example.com"),
    ("sources/prom/url", f"https://metrics.example.com?token={SECRET}"),
    ("sources/prom/url", f"https://metrics.example.com/?x=1&api_key={SECRET}#top"),
    ("sources/prom/url", f"${{PROMETHEUS_URL}}?access_token={SECRET}"),
    ("sources/prom/url", f"https://metrics.example.com/?x=1;sig={SECRET}"),
    ("sources/prom/url", f"https://metrics.example.com/#access_token={SECRET}"),
    ("sources/prom/proxy_url", f"http://gate:{SECRET}@proxy.example.com"),
    ("sources/svc/url", f"https://svc.example.com/health?session={SECRET}"),
    ("sources/svc/proxy_url", f"http://{SECRET}@proxy.example.com"),
    ("sources/dwh/url", f"postgresql://gate:{SECRET}@db.example.com/warehouse"),
    ("sources/dwh/url", f"postgresql://db.example.com/warehouse?user=gate&password={SECRET}"),
    ("sources/dwh/url", f"postgresql://db.example.com/warehouse?sslkey=a&sslpassword={SECRET}"),
    ("sources/dwh/url", f"mssql+pyodbc://?odbc_connect=SERVER%3Ddb%3BPWD%3D{SECRET}"),
    ("sources/prom/headers/Authorization", f"Bearer {SECRET}"),
    ("sources/prom/headers/authorization", SECRET),
    ("sources/prom/headers/X-Auth-Token", SECRET),
    ("sources/prom/headers/X-Scope-OrgID", f"Bearer {SECRET}"),
    ("sources/svc/headers/X-Api-Key", SECRET),
    ("sources/svc/headers/Cookie", f"id={SECRET}"),
    ("sources/svc/headers/Cookie", f"id={SECRET}${{SESSION}}"),
    ("sources/prom/headers/Authorization", f"Bearer {SECRET}${{TOKEN}}"),
    ("sources/prom/headers/Authorization", f"${{SCHEME}} {SECRET}"),
    ("sources/prom/headers/X-Scope-OrgID", f"Token ${{TOKEN}}{SECRET}"),
    ("sources/prom/headers/X-Hub-Signature", SECRET),
    ("sources/prom/headers/X-Sig", SECRET),
    ("sources/prom/headers/X-Jwt-Assertion", SECRET),
    ("sources/prom/headers/X-Amz-Content-Sha256", SECRET),
    ("sources/svc/url", f"https://svc.example.com/health?Signature={SECRET}"),
    ("sources/svc/url", f"https://svc.example.com/health?jwt={SECRET}"),
    ("sources/svc/url", f"https://svc.example.com/health?X-Amz-Date={SECRET}"),
    ("sources/svc/url", f"https://svc.example.com/health?%74oken={SECRET}"),
]

ALLOWED: list[tuple[str, str]] = [
    ("sources/prom/url", "${PROMETHEUS_URL}"),
    ("sources/prom/url", "${PROMETHEUS_URL}/prometheus"),
    ("sources/prom/url", "http://${HOST}:${PORT}/a@b"),
    ("sources/prom/url", "https://${USER}:${PASSWORD}@metrics.example.com"),
    ("sources/prom/url", "https://gate:${PASSWORD}@metrics.example.com"),
    ("sources/prom/url", "https://${TOKEN}@metrics.example.com"),
    ("sources/prom/url", "HTTP://[::1]:9090"),
    ("sources/prom/url", "https://metrics.example.com/x?dedup=true&token=${TOKEN}"),
    ("sources/dwh/url", "${WAREHOUSE_URL}"),
    ("sources/dwh/url", "sqlite:///warehouse.db"),
    ("sources/dwh/url", "sqlite://"),
    ("sources/dwh/url", "postgresql://gate@db.example.com/w?passfile=.pgpass&sslkey=k&password=${P}"),
    ("sources/prom/headers/X-Scope-OrgID", "shop"),
    ("sources/prom/headers/X-Auth-Token", ""),
    ("sources/prom/headers/Authorization", "Basic ${CREDENTIALS}"),
    ("sources/prom/headers/Authorization", "ApiKey ${ID}:${TOKEN}"),
    ("sources/prom/headers/X-Scope-OrgID", "team-${TEAM}"),
    ("sources/prom/url", "https://metrics.example.com:10/?design=x"),
    ("sources/prom/url", "http://127.0.0.1:${PORT}0"),
]

WRONG: list[tuple[str, str, str]] = [
    ("sources/prom/url", "", "empty_text"),
    ("sources/dwh/url", " ", "empty_text"),
    ("sources/prom/proxy_url", "", "empty_text"),
    ("sources/prom/url", f"metrics.example.com:9090/{SECRET}", "bad_url"),
    ("sources/prom/url", f"ftp://{SECRET}.example.com", "bad_url"),
    ("sources/prom/url", f"https://metrics.example.com/{SECRET} x", "bad_url"),
    ("sources/prom/url", f"https://metrics.example.com/{SECRET}\x1b[2J", "bad_url"),
    ("sources/prom/url", "https://", "bad_url"),
    ("sources/prom/url", "https://metrics.example.com:0/x", "bad_url"),
    ("sources/prom/proxy_url", "http://[::1]:00", "bad_url"),
    ("sources/part/path", "a\0b", "bad_path"),
    ("sources/prom/ca_file", "a\0b", "bad_path"),
    ("labels/track/variant", "", "empty_text"),
    ("labels/track/baseline", "", "empty_text"),
    ("sources/prom/proxy_url", f"proxy:{SECRET}", "bad_url"),
    ("sources/dwh/url", f"{SECRET}", "bad_url"),
    ("sources/prom/headers/X-Scope-OrgID", f"{SECRET}\r\nX: y", "bad_header"),
    ("sources/prom/headers/X-Scope-OrgID", f"{SECRET}ü", "bad_header"),
    ("sources/prom/headers/X-Scope-OrgID", f" {SECRET}", "bad_header"),
    ("sources/prom/headers/X-Scope-OrgID", f"{SECRET} ", "bad_header"),
    ("sources/prom/url", f"https://${{{SECRET}}}.example.com", "bad_variable"),
    ("sources/prom/url", "${}", "bad_variable"),
    ("sources/prom/url", "${PROMETHEUS_URL:-http://localhost:9090}", "bad_variable"),
    ("sources/dwh/url", "${WAREHOUSE-URL}", "bad_variable"),
    ("sources/prom/proxy_url", "http://${1}", "bad_variable"),
    ("sources/prom/headers/X-Scope-OrgID", "${A B}", "bad_variable"),
    ("sources/prom/ca_file", "${HOME}/ca.pem", "bad_variable"),
    ("sources/svc/cert_file", "${HOME}/client.pem", "bad_variable"),
    ("sources/svc/key_file", "", "empty_text"),
    ("sources/part/path", "${DIR}/part.json", "bad_variable"),
    ("labels/track/variant", "${}", "bad_variable"),
    ("labels/track/baseline", "a${b-c}", "bad_variable"),
    ("sources/prom/headers/X Scope", "shop", "bad_header"),
    ("sources/prom/headers/", "shop", "bad_header"),
    ("sources/prom/headers/X-Ü", "shop", "bad_header"),
]


@pytest.mark.parametrize(("path", "value"), LITERAL)
def test_a_credential_in_the_file_is_refused_without_printing_it(path: str, value: str) -> None:
    """A reviewed file lives in a repository, and a refusal in the log of a CI job."""
    spoilt = changed(FULL, path, value)
    assert errors(spoilt) == [(f"/{path}", "literal_credential")]
    (line,) = refusal(spoilt)
    assert "hunter2" not in line
    assert "${NAME}" in line


@pytest.mark.parametrize(("path", "value"), ALLOWED)
def test_addresses_and_headers_without_a_credential_load(path: str, value: str) -> None:
    """What comes from the environment, a user's name for a database, a file's name, a tenant."""
    assert refusal(changed(FULL, path, value)) == []


@pytest.mark.parametrize(("path", "value", "code"), WRONG)
def test_what_cannot_be_sent_is_refused_without_printing_it(path: str, value: str, code: str) -> None:
    """An address that is none would be a source that is never reached; it may be a token in the wrong place."""
    spoilt = changed(FULL, path, value)
    assert errors(spoilt) == [(f"/{path}", code)]
    assert "hunter2" not in refusal(spoilt)[0]


def test_a_label_of_targets_that_is_none_is_refused_at_its_place() -> None:
    """A misspelt one would make one target of all, and a dead instance would pass."""
    for name in ("a-b", "__name__", "", "0a"):
        spoilt = changed(FULL, "sources/prom/target_labels", ["job", name])
        assert errors(spoilt) == [("/sources/prom/target_labels/1", "bad_label")]
    assert errors(changed(FULL, "sources/prom/target_labels", [])) == [("/sources/prom/target_labels", "bad_label")]
    assert refusal(changed(FULL, "sources/prom/target_labels", ["zone"])) == []


@pytest.mark.parametrize("path", ["url", "proxy_url", "headers", "headers/X-Api-Key"])
@pytest.mark.parametrize("value", [72727272, ["hunter2"], {"a": ["hunter2"]}, True, "hunter2"])
def test_a_credential_of_the_wrong_type_is_not_printed(path: str, value: Any) -> None:
    """A token may be all digits, and a header may be written as one text."""
    lines = refusal(changed(FULL, f"sources/svc/{path}", value))
    assert lines != []
    assert not [line for line in lines if "hunter2" in line or "72727272" in line]


@pytest.mark.parametrize("token", [b'"hunter2\\ud800"', b"NaN72727272", b"72727272727272727272", b"7.2727272e999"])
def test_a_credential_that_no_json_value_can_be_is_not_printed(token: bytes) -> None:
    """Half a surrogate pair, a number that no double holds."""
    data = encoded(FULL).replace(b'"${SVC_KEY}"', token)
    assert data != encoded(FULL)
    loaded, found = check_collection(data, "c.json")
    assert loaded is None
    assert not [one for one in found if "hunter2" in one.message or "727272" in one.message]
