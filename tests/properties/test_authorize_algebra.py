"""Trust only ever shrinks: less trust, more demands or later times never authorize what was not authorized before."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.authorize.policy import Policy, Role
from harness.model.manifest import Manifest, Recorder
from harness.model.verdict import Authorization
from tests.support import bundles
from tests.support.authorities import SUBJECT, decided, entry, policy, print_of, signed

OWNERS = ("ann", "bob", "cid")
TIMES = tuple(f"2026-11-{day:02}T00:00:00Z" for day in range(10, 16))
OTHER_RUN = msgspec.structs.replace(SUBJECT, digest={"sha256": "0" * 64})


class Signing(msgspec.Struct, frozen=True):
    """One envelope: who signed what. `fits` False: about other classes; `about` False: about another run."""

    signers: tuple[str, ...]
    start: int
    end: int
    fits: bool
    about: bool


@cache
def envelope(signing: Signing) -> bytes:
    return signed(
        *signing.signers,
        subjects=(SUBJECT,) if signing.about else (OTHER_RUN,),
        valid_from=TIMES[signing.start],
        expires=TIMES[signing.end],
        classes=("mixed-outcomes",) if signing.fits else ("overflow",),
    )


_SPANS = st.one_of(st.just((0, len(TIMES) - 1)), st.sampled_from(list(itertools.combinations(range(len(TIMES)), 2))))
"""Half of what is drawn is as it should be, so that what is authorized and what is not are both common."""
_SIGNINGS = st.lists(
    st.builds(
        lambda signers, span, fits, about: Signing(tuple(signers), span[0], span[1], fits, about),
        st.lists(st.sampled_from([*OWNERS, "eve"]), min_size=1, max_size=3),
        _SPANS,
        st.sampled_from([True, True, True, True, False]),
        st.sampled_from([True, True, True, True, False]),
    ),
    min_size=1,
    max_size=3,
)


@st.composite
def _policies(draw: st.DrawFn) -> Policy:
    entries = []
    for owner in draw(st.lists(st.sampled_from(OWNERS), unique=True, min_size=1, max_size=3)):
        members: dict[str, str] = {}
        match draw(st.sampled_from(["plain", "plain", "plain", "limited", "revoked", "recorder"])):
            case "limited":
                first, last = draw(_SPANS)
                members |= {"valid_from": TIMES[first], "valid_until": TIMES[last]}
            case "revoked":
                members["revoked"] = draw(st.sampled_from(TIMES))
            case "recorder":
                members["role"] = "recorder"
            case _:
                pass
        entries.append(entry(owner, **members))
    return msgspec.structs.replace(policy(*entries), threshold=draw(st.sampled_from([1, 1, 1, 2, 3])))


_MANIFESTS = st.sampled_from(
    [
        bundles.manifest(),
        bundles.manifest(),
        bundles.manifest(recorder=Recorder(name="harness", version="0.1.0", key=print_of("ann"))),
    ]
)
_AT = st.sampled_from(TIMES[:-1])
some_trust = given(trust=_policies(), signings=_SIGNINGS, run=_MANIFESTS, at=_AT)
few = settings(max_examples=40, deadline=None)


def status(trust: Policy, signings: Sequence[Signing], run: Manifest, at: str) -> Authorization:
    return decided(trust, *(envelope(signing) for signing in signings), manifest=run, at=at).status


def authorized(trust: Policy, signings: Sequence[Signing], run: Manifest, at: str) -> bool:
    return status(trust, signings, run, at) is Authorization.AUTHORIZED


def moment(text: str, otherwise: datetime) -> datetime:
    return datetime.fromisoformat(text) if text else otherwise


def should_be_authorized(trust: Policy, signings: Sequence[Signing], run: Manifest, at: str) -> bool:
    """evidence.md, "Authorization", once more and another way: with sets and real times."""
    now = datetime.fromisoformat(at)
    beginning, end = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    good = {
        key.name
        for key in trust.keys
        if key.role is Role.AUTHORITY
        and key.fingerprint != run.recorder.key
        and moment(key.valid_from, beginning) <= now < moment(key.valid_until, end)
        and now < moment(key.revoked, end)
    }
    said: dict[Signing, set[str]] = {}
    for signing in signings:
        said.setdefault(msgspec.structs.replace(signing, signers=()), set()).update(signing.signers)
    return any(
        statement.about
        and statement.fits
        and datetime.fromisoformat(TIMES[statement.start]) <= now < datetime.fromisoformat(TIMES[statement.end])
        and len(signers & good) >= trust.threshold
        for statement, signers in said.items()
    )


@settings(max_examples=100, deadline=None)
@some_trust
def test_exactly_what_the_rules_authorize_is_authorized(
    trust: Policy, signings: list[Signing], run: Manifest, at: str
) -> None:
    assert authorized(trust, signings, run, at) == should_be_authorized(trust, signings, run, at)


@few
@given(trust=_policies(), signings=_SIGNINGS, run=_MANIFESTS, at=_AT, more=_SIGNINGS)
def test_further_envelopes_never_take_an_authorization_away(
    trust: Policy, signings: list[Signing], run: Manifest, at: str, more: list[Signing]
) -> None:
    if authorized(trust, signings, run, at):
        assert authorized(trust, [*signings, *more], run, at)
        assert authorized(trust, [*more, *signings], run, at)


@few
@some_trust
def test_fewer_keys_never_authorize_more(trust: Policy, signings: list[Signing], run: Manifest, at: str) -> None:
    if authorized(trust, signings, run, at):
        return
    for gone in trust.keys:
        fewer = msgspec.structs.replace(trust, keys=tuple(key for key in trust.keys if key is not gone))
        assert not authorized(fewer, signings, run, at), gone.name


@few
@some_trust
def test_higher_threshold_revocation_or_another_role_never_authorize_more(
    trust: Policy, signings: list[Signing], run: Manifest, at: str
) -> None:
    if authorized(trust, signings, run, at):
        return
    assert not authorized(msgspec.structs.replace(trust, threshold=trust.threshold + 1), signings, run, at)
    for change in ({"revoked": TIMES[0]}, {"role": Role.RECORDER}):
        keys = tuple(msgspec.structs.replace(key, **change) for key in trust.keys)
        assert not authorized(msgspec.structs.replace(trust, keys=keys), signings, run, at)


@few
@some_trust
def test_once_every_statement_has_expired_nothing_is_authorized(
    trust: Policy, signings: list[Signing], run: Manifest, at: str
) -> None:
    last = max((TIMES[signing.end] for signing in signings), default=at)
    assert not authorized(trust, signings, run, last)
    assert not authorized(trust, signings, run, "2099-01-01T00:00:00Z")
    if authorized(trust, signings, run, at):
        assert at < last


@few
@given(trust=_policies(), signings=_SIGNINGS, run=_MANIFESTS, at=_AT, seed=st.randoms(use_true_random=False))
def test_order_of_envelopes_and_of_keys_changes_no_status(
    trust: Policy, signings: list[Signing], run: Manifest, at: str, seed: Random
) -> None:
    shuffled, keys = list(signings), list(trust.keys)
    seed.shuffle(shuffled)
    seed.shuffle(keys)
    other = msgspec.structs.replace(trust, keys=tuple(keys))
    assert status(other, shuffled, run, at) is status(trust, signings, run, at)
