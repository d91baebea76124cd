"""Only somebody else's valid signature makes a run count; every other case has a status and says why."""

from __future__ import annotations

import pytest

from harness.authorize.decide import Decision, decide, read_claims
from harness.authorize.statement import Subject
from harness.model.errors import UsageError
from harness.model.facts import Column
from harness.model.manifest import Capture, Product, Recorder
from harness.model.verdict import Authorization
from tests.support import bundles
from tests.support.authorities import (
    AT,
    PREDICATE,
    SUBJECT,
    decided,
    entry,
    policy,
    print_of,
    signed,
)

TRUST = policy(entry("ann"))
ONE_OF_TWO = policy(entry("ann"), entry("bob"))
BOTH = policy(entry("ann"), entry("bob"), threshold=2)


def refused(status: Authorization, detail: str) -> Decision:
    """The whole decision when it is a refusal: no authority is ever named with one."""
    return Decision(status=status, detail=detail, authority="")


def test_authorized() -> None:
    assert decided(TRUST, signed("ann")) == Decision(
        status=Authorization.AUTHORIZED,
        detail="by ann until 2027-05-01T00:00:00Z: reviewed",
        authority="ann",
    )


def test_unauthorized() -> None:
    nobody = refused(Authorization.UNAUTHORIZED, "no release authority has signed it")
    assert decided(TRUST) == nobody
    other_run = Subject(name=SUBJECT.name, digest={"sha256": "0" * 64})
    assert decided(TRUST, signed("ann", subjects=(other_run,))) == nobody


def test_expired() -> None:
    assert decided(TRUST, signed("ann"), at="2027-05-01T00:00:00Z") == refused(
        Authorization.EXPIRED, "expired at 2027-05-01T00:00:00Z"
    )
    old = policy(entry("ann", valid_until="2026-11-30T00:00:00Z"))
    assert decided(old, signed("ann")) == refused(
        Authorization.EXPIRED, "the key ann was valid until 2026-11-30T00:00:00Z"
    )


def test_not_yet_valid() -> None:
    assert decided(TRUST, signed("ann"), at="2026-10-31T23:59:59Z") == refused(
        Authorization.NOT_YET_VALID, "valid from 2026-11-01T00:00:00Z"
    )
    new = policy(entry("ann", valid_from="2026-12-01T00:00:00Z"))
    assert decided(new, signed("ann")) == refused(
        Authorization.NOT_YET_VALID, "the key ann is valid from 2026-12-01T00:00:00Z"
    )


def test_revoked() -> None:
    revoked = entry("ann", revoked="2026-11-15T00:00:00Z", revoked_because="laptop lost")
    assert decided(policy(revoked), signed("ann")) == refused(
        Authorization.REVOKED, "the key ann is revoked: laptop lost"
    )
    silent = entry("ann", revoked="2026-11-15T00:00:00Z")
    assert decided(policy(silent), signed("ann")) == refused(Authorization.REVOKED, "the key ann is revoked")


def test_unknown_key() -> None:
    assert decided(TRUST, signed("eve")) == refused(
        Authorization.UNKNOWN_KEY, "0.dsse.json: signed by no key of the trust policy"
    )
    assert decided(policy(), signed("ann")).status is Authorization.UNKNOWN_KEY


def test_wrong_role() -> None:
    trust = policy(entry("ann"), entry("robot", role="recorder"))
    assert decided(trust, signed("robot")) == refused(Authorization.WRONG_ROLE, "robot signed as recorder")


def test_self_authorized() -> None:
    own = bundles.manifest(recorder=Recorder(name="harness", version="0.1.0", key=print_of("ann")))
    assert decided(TRUST, signed("ann"), manifest=own) == refused(
        Authorization.SELF_AUTHORIZED, "ann recorded the run itself"
    )
    assert decided(ONE_OF_TWO, signed("bob"), manifest=own).status is Authorization.AUTHORIZED
    assert decided(ONE_OF_TWO, signed("ann", "bob"), manifest=own).authority == "bob"


def test_wrong_scope_product_digest() -> None:
    assert decided(TRUST, signed("ann", product_sha256=("1" * 64,))) == refused(
        Authorization.WRONG_SCOPE, f"signed for other binaries than {bundles.PRODUCT.sha256[:16]}…"
    )
    assert decided(TRUST, signed("ann", product_sha256=())).status is Authorization.WRONG_SCOPE


def test_wrong_scope_one_of_the_two_binaries_of_a_legacy_run() -> None:
    older = Product(version="0.96.6", sha256="f" * 64)
    legacy = bundles.manifest(products=(older, bundles.PRODUCT))
    assert decided(TRUST, signed("ann"), manifest=legacy) == refused(
        Authorization.WRONG_SCOPE, "signed for other binaries than ffffffffffffffff…"
    )
    both = signed("ann", product_sha256=(bundles.PRODUCT.sha256, older.sha256))
    assert decided(TRUST, both, manifest=legacy).status is Authorization.AUTHORIZED


def test_wrong_scope_binary_that_only_a_capture_names() -> None:
    stranger = Product(version="0.104.0", sha256="e" * 64)
    capture = Capture(column=Column.LOCAL_AGENT_LIVE, file="local-agent.live.jsonl", product=stranger, complete=True)
    assert decided(TRUST, signed("ann"), manifest=bundles.manifest(captures=(capture,))) == refused(
        Authorization.WRONG_SCOPE, "signed for other binaries than eeeeeeeeeeeeeeee…"
    )


@pytest.mark.parametrize("products", [(), (Product(version="0.104.0", sha256=""),)], ids=["none", "no digest"])
def test_wrong_scope_run_that_names_no_binary(products: tuple[Product, ...]) -> None:
    nameless = bundles.manifest(products=products, captures=())
    assert decided(TRUST, signed("ann"), manifest=nameless) == refused(
        Authorization.WRONG_SCOPE, "the run does not say which binary it is of"
    )


def test_wrong_scope_class() -> None:
    more = bundles.manifest(classes=("mixed-outcomes", "overflow", "cancellation"))
    assert decided(TRUST, signed("ann"), manifest=more) == refused(
        Authorization.WRONG_SCOPE, "not signed for cancellation, overflow"
    )
    fewer = bundles.manifest(classes=())
    assert decided(TRUST, signed("ann"), manifest=fewer).status is Authorization.AUTHORIZED


@pytest.mark.parametrize(
    ("envelope", "detail"),
    [
        (signed("ann", release="0.105.0"), "signed for magi-code 0.105.0"),
        (signed("ann", product="other-code"), "signed for other-code 0.104.0"),
    ],
    ids=["release", "product"],
)
def test_wrong_scope_release_or_product(envelope: bytes, detail: str) -> None:
    assert decided(TRUST, envelope) == refused(Authorization.WRONG_SCOPE, detail)


def test_below_threshold() -> None:
    assert decided(BOTH, signed("ann")) == refused(Authorization.BELOW_THRESHOLD, "1 of 2 signatures count")
    assert decided(BOTH, signed("ann", "bob")).authority == "ann, bob"


def test_below_threshold_one_key_that_signs_twice_counts_once() -> None:
    assert decided(BOTH, signed("ann", "ann")).status is Authorization.BELOW_THRESHOLD
    assert decided(BOTH, signed("ann"), signed("ann")).detail == "1 of 2 signatures count"


def test_below_threshold_says_which_signatures_do_not_count_and_why() -> None:
    trust = policy(
        entry("ann"),
        entry("bob"),
        entry("robot", role="recorder"),
        entry("old", revoked="2026-01-01T00:00:00Z", revoked_because="left"),
        threshold=2,
    )
    assert decided(trust, signed("eve", "robot", "old", "ann")) == refused(
        Authorization.BELOW_THRESHOLD,
        "1 of 2 signatures count; the key old is revoked: left; robot signed as recorder; "
        "1 by no key of the trust policy",
    )


def test_when_no_signature_counts_all_reasons_are_given_the_nearest_first() -> None:
    trust = policy(entry("robot", role="recorder"), entry("late", valid_until="2026-02-01T00:00:00Z"), threshold=1)
    assert decided(trust, signed("robot", "late")) == refused(
        Authorization.EXPIRED, "the key late was valid until 2026-02-01T00:00:00Z; robot signed as recorder"
    )
    assert decided(trust, signed("late", "robot")) == decided(trust, signed("robot", "late"))


def test_signatures_in_envelopes_of_their_own_count_together_for_the_same_statement() -> None:
    """DSSE: several signatures are equivalent to separate envelopes with individual signatures."""
    together = decided(BOTH, signed("ann"), signed("bob"))
    assert together.status is Authorization.AUTHORIZED
    assert together.authority == "ann, bob"
    claims, broken = read_claims({"b": signed("bob", "eve"), "a": signed("ann")}, BOTH)
    assert broken == ()
    assert [claim.name for claim in claims] == ["a, b"]
    assert [signer.name for signer in claims[0].signers] == ["ann", "bob"]
    assert claims[0].unknown == 1


def test_signatures_of_different_statements_do_not_count_together() -> None:
    other = signed("bob", reason="reviewed on another day")
    assert decided(BOTH, signed("ann"), other).status is Authorization.BELOW_THRESHOLD


def test_revoked_key_does_not_count_beside_its_successor_of_the_same_name() -> None:
    retired = entry("ann", name="release authority", revoked="2026-01-01T00:00:00Z")
    successor = entry("bob", name="release authority")
    for entries in ((retired, successor), (successor, retired)):
        assert decided(policy(*entries), signed("ann")).status is Authorization.REVOKED
        assert decided(policy(*entries), signed("bob")).status is Authorization.AUTHORIZED
        strict = policy(*entries, entry("cid"), threshold=2)
        for signers in (("ann", "bob"), ("bob", "ann")):
            assert (
                decided(strict, signed(*signers)).detail
                == "1 of 2 signatures count; the key release authority is revoked"
            )


@pytest.mark.parametrize(
    ("at", "status"),
    [
        ("2026-10-31T23:59:59Z", Authorization.NOT_YET_VALID),
        ("2026-11-01T00:00:00Z", Authorization.AUTHORIZED),
        ("2027-04-30T23:59:59Z", Authorization.AUTHORIZED),
        ("2027-05-01T00:00:00Z", Authorization.EXPIRED),
        ("9999-12-31T23:59:59Z", Authorization.EXPIRED),
    ],
)
def test_statement_is_valid_from_its_first_instant_until_before_its_last(at: str, status: Authorization) -> None:
    assert (PREDICATE.valid_from, PREDICATE.expires) == ("2026-11-01T00:00:00Z", "2027-05-01T00:00:00Z")
    assert decided(TRUST, signed("ann"), at=at).status is status


@pytest.mark.parametrize(
    ("at", "status"),
    [
        ("2026-11-09T23:59:59Z", Authorization.NOT_YET_VALID),
        ("2026-11-10T00:00:00Z", Authorization.AUTHORIZED),
        ("2026-11-19T23:59:59Z", Authorization.AUTHORIZED),
        ("2026-11-20T00:00:00Z", Authorization.EXPIRED),
    ],
)
def test_key_is_valid_from_its_first_instant_until_before_its_last(at: str, status: Authorization) -> None:
    trust = policy(entry("ann", valid_from="2026-11-10T00:00:00Z", valid_until="2026-11-20T00:00:00Z"))
    assert decided(trust, signed("ann"), at=at).status is status


@pytest.mark.parametrize(
    ("at", "status"),
    [("2026-11-19T23:59:59Z", Authorization.AUTHORIZED), ("2026-11-20T00:00:00Z", Authorization.REVOKED)],
)
def test_key_is_revoked_from_the_very_instant(at: str, status: Authorization) -> None:
    trust = policy(entry("ann", revoked="2026-11-20T00:00:00Z"))
    assert decided(trust, signed("ann"), at=at).status is status


def test_revocation_outranks_the_end_of_validity_of_the_same_key() -> None:
    trust = policy(entry("ann", revoked="2026-11-20T00:00:00Z", valid_until="2026-11-10T00:00:00Z"))
    assert decided(trust, signed("ann")).status is Authorization.REVOKED


def test_of_several_envelopes_the_one_that_authorizes_is_taken() -> None:
    hopeless = [
        signed("eve", reason="forged"),
        signed("ann", expires="2026-11-02T00:00:00Z"),
        signed("ann", release="0.1.0"),
        signed("bob", reason="not trusted"),
    ]
    assert decided(TRUST, *hopeless, signed("ann")).authority == "ann"
    assert decided(TRUST, signed("ann"), *hopeless).authority == "ann"
    assert decided(TRUST, *hopeless) == refused(Authorization.EXPIRED, "expired at 2026-11-02T00:00:00Z")


def test_statement_about_many_runs_authorizes_each() -> None:
    others = [
        Subject(name=f"0.104.0/{number}/manifest.json", digest={"sha256": f"{number:064x}"}) for number in range(50)
    ]
    assert decided(TRUST, signed("ann", subjects=[*others, SUBJECT])).status is Authorization.AUTHORIZED
    claims, _ = read_claims({"many": signed("ann", subjects=others)}, TRUST)
    assert decide(bundles.manifest(), f"{7:064x}", claims, TRUST, product="magi-code", at=AT).authority == "ann"
    assert (
        decide(bundles.manifest(), f"{50:064x}", claims, TRUST, product="magi-code", at=AT).status
        is Authorization.UNAUTHORIZED
    )


def test_broken_envelope_is_returned_by_name_and_stops_no_other() -> None:
    claims, broken = read_claims({"a.dsse.json": b"{}", "b.dsse.json": signed("ann")}, TRUST)
    assert [claim.name for claim in claims] == ["b.dsse.json"]
    ((name, reason),) = broken
    assert name == "a.dsse.json"
    assert reason == "is no DSSE envelope: Object missing required field `payload`"


@pytest.mark.parametrize("at", ["", "2026-11-30", "2026-11-30T12:00:00+00:00", "2026-13-01T00:00:00Z", "now"])
def test_time_that_is_none_is_refused_rather_than_compared(at: str) -> None:
    with pytest.raises(UsageError, match="is no RFC 3339 UTC time"):
        decided(TRUST, signed("ann"), at=at)
