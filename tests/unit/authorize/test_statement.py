"""A statement is read strictly: what it does not say exactly it does not authorize."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from harness.authorize import statement
from harness.model.errors import DecodeError, UsageError
from tests.support.authorities import MANIFEST_SHA256, PREDICATE, SUBJECT, payload

Plain = dict[str, Any]


def decoded(content: bytes, payload_type: str = statement.PAYLOAD_TYPE) -> statement.Statement:
    return statement.decode(content, payload_type=payload_type, where="e.dsse.json")


def refused(content: bytes, payload_type: str = statement.PAYLOAD_TYPE) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        decoded(content, payload_type)
    assert caught.value.where.startswith("e.dsse.json")
    return caught.value


def changed(change: Callable[[Plain], object]) -> bytes:
    plain = json.loads(payload())
    change(plain)
    return json.dumps(plain).encode()


def test_statement_is_in_toto_version_1_with_the_members_of_the_specification() -> None:
    assert json.loads(payload()) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "0.104.0/reads-notes.local-agent/manifest.json", "digest": {"sha256": MANIFEST_SHA256}}],
        "predicateType": "urn:card-acceptance-harness:original-run-authorization:v1",
        "predicate": {
            "product": "magi-code",
            "release": "0.104.0",
            "productSha256": list(PREDICATE.product_sha256),
            "classes": ["mixed-outcomes"],
            "validFrom": "2026-11-01T00:00:00Z",
            "expires": "2027-05-01T00:00:00Z",
            "reason": "reviewed",
        },
    }


def test_statement_reads_back() -> None:
    read = decoded(payload())
    assert read.predicate == PREDICATE
    assert read.subject == (SUBJECT,)
    assert payload() == payload()


@pytest.mark.parametrize("payload_type", ["", "application/json", "application/vnd.in-toto+JSON", "text/plain"])
def test_payload_of_another_type_is_refused(payload_type: str) -> None:
    assert f"has the payload type {payload_type!r}" in refused(payload(), payload_type).message


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda plain: plain.update(_type="https://in-toto.io/Statement/v0.1"), "Invalid enum value"),
        (lambda plain: plain.update(predicateType="https://slsa.dev/provenance/v1"), "Invalid enum value"),
        (lambda plain: plain.update(predicateType=plain["predicateType"][:-1] + "2"), "Invalid enum value"),
        (lambda plain: plain.pop("_type"), "missing required field `_type`"),
        (lambda plain: plain.pop("predicate"), "missing required field `predicate`"),
        (lambda plain: plain["predicate"].pop("expires"), "missing required field `expires`"),
        (lambda plain: plain["predicate"].update(surfaces=[]), "unknown field `surfaces` - at `$.predicate`"),
        (lambda plain: plain["predicate"].update(classes="all"), "Expected `array`, got `str`"),
        (lambda plain: plain["predicate"].update(expires=None), "Expected `str`, got `null`"),
        (lambda plain: plain["subject"][0].update(digest=MANIFEST_SHA256), "Expected `object`, got `str`"),
        (lambda plain: plain.update(subject={}), "Expected `array`, got `object`"),
    ],
)
def test_statement_of_another_shape_is_refused(change: Callable[[Plain], object], reason: str) -> None:
    message = refused(changed(change)).message
    assert message.startswith("is no authorization statement: ")
    assert reason in message


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        (lambda plain: plain.update(subject=[]), "", "has 0 subjects, not 1 to 4096"),
        (lambda plain: plain.update(subject=plain["subject"] * 4_097), "", "has 4097 subjects, not 1 to 4096"),
        (lambda plain: plain["subject"][0]["digest"].clear(), "subject[0].digest", "is no sha256"),
        (lambda plain: plain["subject"][0].update(digest={"sha512": "0" * 128}), "subject[0].digest", "is no sha256"),
        (lambda plain: plain["subject"][0]["digest"].update(sha256="0" * 63), "subject[0].digest", "is no sha256"),
        (lambda plain: plain["subject"][0]["digest"].update(sha256="A" * 64), "subject[0].digest", "is no sha256"),
        (
            lambda plain: plain["subject"].append({"name": "x", "digest": {"sha256": "0" * 64 + "\n"}}),
            "subject[1].digest",
            "is no sha256",
        ),
        (
            lambda plain: plain["predicate"].update(productSha256=["0" * 64, "short"]),
            "predicate.productSha256[1]",
            "is no sha256",
        ),
        (
            lambda plain: plain["predicate"].update(validFrom="2026-13-45T99:99:99Z"),
            "predicate.validFrom",
            "'2026-13-45T99:99:99Z' is no RFC 3339 UTC time",
        ),
        (
            lambda plain: plain["predicate"].update(expires="2027-02-29T00:00:00Z"),
            "predicate.expires",
            "'2027-02-29T00:00:00Z' is no RFC 3339 UTC time",
        ),
        (
            lambda plain: plain["predicate"].update(expires="٢٠٢٧-05-01T00:00:00Z"),
            "predicate.expires",
            "is no RFC 3339 UTC time",
        ),
        (
            lambda plain: plain["predicate"].update(expires="2026-11-01T00:00:00Z"),
            "predicate.expires",
            "is not after 2026-11-01T00:00:00Z",
        ),
        (lambda plain: plain["predicate"].update(reason=" \n"), "predicate.reason", "says nothing"),
    ],
)
def test_member_that_cannot_be_meant_is_refused_by_its_path(
    change: Callable[[Plain], object], path: str, reason: str
) -> None:
    error = refused(changed(change))
    assert error.path == path
    assert reason in error.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"reason":"reviewed"', b'"reason":"reviewed","reason":"other"'),
        (b'"_type":', b'"_type":"https://in-toto.io/Statement/v1","_type":'),
        (b'{"sha256":', b'{"sha256":"","sha256":'),
    ],
)
def test_doubled_member_is_refused(old: bytes, new: bytes) -> None:
    assert old in payload()
    assert "Detected duplicate key" in refused(payload().replace(old, new)).message


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'"text"'])
def test_bytes_that_are_no_statement_are_refused(content: bytes) -> None:
    assert refused(content).message.startswith("is no authorization statement: ")


def test_unknown_members_beside_the_predicate_are_ignored_as_in_toto_says() -> None:
    def extend(plain: Plain) -> None:
        plain["later"] = 1
        plain["subject"][0]["mediaType"] = "application/json"
        plain["subject"][0]["digest"]["sha512"] = "0" * 128

    assert decoded(changed(extend)).predicate == PREDICATE


@pytest.mark.parametrize(
    "changes",
    [
        {"reason": ""},
        {"valid_from": "2026-13-45T99:99:99Z"},
        {"expires": "tomorrow"},
        {"expires": PREDICATE.valid_from},
        {"product_sha256": ("",)},
    ],
)
def test_statement_that_nobody_would_accept_is_not_made(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        statement.encode((SUBJECT,), msgspec.structs.replace(PREDICATE, **changes))
    assert "the statement, predicate." in caught.value.where
    assert caught.value.exit_code == 2


def test_statement_about_nothing_is_not_made() -> None:
    with pytest.raises(UsageError, match="has 0 subjects"):
        statement.encode((), PREDICATE)
