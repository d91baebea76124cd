"""in-toto statements (Statement v1) by which a release authority authorizes original runs: made and strictly read."""

from __future__ import annotations

import re
from typing import Literal

import jiter
import msgspec

from harness.authorize.times import time_error
from harness.model.errors import DecodeError, UsageError
from harness.model.stimulus import canonical

PAYLOAD_TYPE = "application/vnd.in-toto+json"
SUBJECTS = 4_096

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One manifest: `name` is ``<release>/<observation>/manifest.json``, `digest` maps ``sha256`` to hex."""

    name: str
    digest: dict[str, str]


class Authorizes(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The predicate. Times are RFC 3339 UTC; `valid_from` inclusive, `expires` exclusive. `product_sha256` are the
    binaries that the authority looked at; `classes` the observation classes that the runs may count for."""

    product: str
    release: str
    product_sha256: tuple[str, ...]
    classes: tuple[str, ...]
    valid_from: str
    expires: str
    reason: str


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One in-toto statement of the authorization predicate; the two types have one value each."""

    subject: tuple[Subject, ...]
    predicate: Authorizes
    type_: Literal["https://in-toto.io/Statement/v1"] = msgspec.field(name="_type")
    predicate_type: Literal["urn:card-acceptance-harness:original-run-authorization:v1"] = msgspec.field(
        name="predicateType"
    )


def encode(subjects: tuple[Subject, ...], predicate: Authorizes) -> bytes:
    """Canonical JSON of the statement. Raises UsageError for one that `decode` would refuse."""
    statement = Statement(
        subject=subjects,
        predicate=predicate,
        type_="https://in-toto.io/Statement/v1",
        predicate_type="urn:card-acceptance-harness:original-run-authorization:v1",
    )
    try:
        _check(statement, "the statement")
    except DecodeError as error:
        raise UsageError(error.message, where=error.where) from error
    return canonical(statement)


def decode(payload: bytes, *, payload_type: str, where: str) -> Statement:
    """The statement in verified bytes.

    Raises DecodeError for another payload type than in-toto's, other statement or predicate types, doubled members,
    unknown members of the predicate (in-toto wants those of the statement ignored), digests that are no sha256, times
    that are not RFC 3339 UTC or leave no instant between them, an empty reason.
    """
    if payload_type != PAYLOAD_TYPE:
        raise DecodeError(f"has the payload type {payload_type!r}", where=where)
    try:
        statement = msgspec.convert(jiter.from_json(payload, catch_duplicate_keys=True), Statement)
    except (ValueError, msgspec.ValidationError) as error:
        raise DecodeError(f"is no authorization statement: {error}", where=where) from error
    _check(statement, where)
    return statement


def _check(statement: Statement, where: str) -> None:
    predicate = statement.predicate
    if not 1 <= len(statement.subject) <= SUBJECTS:
        raise DecodeError(f"has {len(statement.subject)} subjects, not 1 to {SUBJECTS}", where=where)
    for index, subject in enumerate(statement.subject):
        if not _SHA256.fullmatch(subject.digest.get("sha256", "")):
            raise DecodeError("is no sha256", path=f"subject[{index}].digest", where=where)
    for index, digest in enumerate(predicate.product_sha256):
        if not _SHA256.fullmatch(digest):
            raise DecodeError("is no sha256", path=f"predicate.productSha256[{index}]", where=where)
    for name, text in (("validFrom", predicate.valid_from), ("expires", predicate.expires)):
        if problem := time_error(text):
            raise DecodeError(problem, path=f"predicate.{name}", where=where)
    if predicate.expires <= predicate.valid_from:
        raise DecodeError(f"is not after {predicate.valid_from}", path="predicate.expires", where=where)
    if not predicate.reason.strip():
        raise DecodeError("says nothing", path="predicate.reason", where=where)
