"""Waivers: one that covers more than it names, outlives its day or names nobody would hide a disagreement for good."""

from __future__ import annotations

import msgspec
import pytest

from harness.compare.waivers import Waiver, apply_waivers, decode_waivers
from harness.model.errors import UsageError
from tests.support.columns import LA_REOPEN, finding

AT = "2026-11-30T12:00:00Z"
RELEASE = "0.104.0"
FOUND = finding("mixed-script.local-agent")
WAIVER = Waiver(
    id="W-1",
    requirement=FOUND.requirement,
    observation=FOUND.observation,
    label=FOUND.label,
    owner="somebody",
    reason="known, and being mended",
    issue="#17",
    expires="2026-12-01T00:00:00Z",
    release=RELEASE,
)
TEXT = """schema = 1

[[waiver]]
id = "W-1"
requirement = "code-mode.script-outcome"
observation = "mixed-script.local-agent"
label = "Script outcome"
owner = "somebody"
reason = "known, and being mended"
issue = "#17"
expires = "2026-12-01T00:00:00Z"
release = "0.104.0"
"""


def _changed(**members: str) -> Waiver:
    return msgspec.structs.replace(WAIVER, **members)


def test_a_waived_finding_is_marked_and_otherwise_as_it_was() -> None:
    waived = apply_waivers([FOUND], [WAIVER], release=RELEASE, at=AT)
    assert waived.faults == ()
    assert waived.findings == (msgspec.structs.replace(FOUND, waived_by="W-1"),)
    assert FOUND.waived_by is None


@pytest.mark.parametrize(
    "members",
    [
        {"requirement": "code-mode.rollback"},
        {"requirement": "code-mode"},
        {"observation": "mixed-script.mission-control"},
        {"observation": "mixed-script"},
        {"label": ""},
        {"label": "script outcome"},
        {"card": "turn1/call2"},
        {"surface": "local-agent-reopen"},
    ],
)
def test_a_waiver_covers_nothing_but_what_it_names_and_is_at_fault_when_that_is_not_there(
    members: dict[str, str],
) -> None:
    waived = apply_waivers([FOUND], [_changed(**members)], release=RELEASE, at=AT)
    assert waived.findings == (FOUND,)
    assert waived.faults == ("the waiver W-1 of somebody matches no finding",)


def test_a_waiver_that_names_card_and_surface_covers_that_place_alone() -> None:
    other = finding(FOUND.observation, surface=LA_REOPEN)
    narrow = _changed(card=FOUND.card, surface=FOUND.surface)
    waived = apply_waivers([FOUND, other], [narrow], release=RELEASE, at=AT)
    assert [item.waived_by for item in waived.findings] == ["W-1", None]
    wide = apply_waivers([FOUND, other], [WAIVER], release=RELEASE, at=AT)
    assert [item.waived_by for item in wide.findings] == ["W-1", "W-1"]


@pytest.mark.parametrize("at", ["2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"])
def test_an_expired_waiver_waives_nothing_and_is_at_fault(at: str) -> None:
    waived = apply_waivers([FOUND], [WAIVER], release=RELEASE, at=at)
    assert waived.findings == (FOUND,)
    assert waived.faults == ("the waiver W-1 of somebody expired at 2026-12-01T00:00:00Z",)
    assert apply_waivers([FOUND], [WAIVER], release=RELEASE, at="2026-11-30T23:59:59Z").faults == ()


def test_a_waiver_of_another_release_neither_waives_nor_fails() -> None:
    waived = apply_waivers([FOUND], [_changed(release="0.105.0")], release=RELEASE, at=AT)
    assert (waived.findings, waived.faults) == ((FOUND,), ())


def test_two_waivers_of_one_finding_are_both_used() -> None:
    waived = apply_waivers([FOUND], [WAIVER, _changed(id="W-2")], release=RELEASE, at=AT)
    assert [item.waived_by for item in waived.findings] == ["W-1"]
    assert waived.faults == ()


def test_a_waiver_file_is_read_as_it_is_written() -> None:
    assert decode_waivers(TEXT, where="waivers.toml") == (WAIVER,)
    assert decode_waivers("schema = 1\n", where="waivers.toml") == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schema = 1", "schema = 2"),
        ("schema = 1", ""),
        ("schema = 1", "schema = 1\nowner = 'x'"),
        ("[[waiver]]", "[[waivers]]"),
        ('owner = "somebody"', 'owner = ""'),
        ('owner = "somebody"', 'owner = "  "'),
        ('owner = "somebody"\n', ""),
        ('reason = "known, and being mended"', 'reason = ""'),
        ('issue = "#17"', 'issue = ""'),
        ('issue = "#17"', "issue = 17"),
        ('release = "0.104.0"', 'release = ""'),
        ('id = "W-1"', 'id = ""'),
        ('requirement = "code-mode.script-outcome"', 'requirement = ""'),
        ('observation = "mixed-script.local-agent"', 'observation = ""'),
        ('expires = "2026-12-01T00:00:00Z"', 'expires = "2026-12-01"'),
        ('expires = "2026-12-01T00:00:00Z"', 'expires = "never"'),
        ('expires = "2026-12-01T00:00:00Z"', 'expires = "2026-12-01T00:00:00+02:00"'),
        ('expires = "2026-12-01T00:00:00Z"', 'expires = "2026-13-01T00:00:00Z"'),
        ('release = "0.104.0"\n', 'release = "0.104.0"\nuntil = "x"\n'),
        ('id = "W-1"', "id = W-1"),
    ],
)
def test_a_waiver_file_that_is_not_strict_is_refused(old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(UsageError) as caught:
        decode_waivers(TEXT.replace(old, new), where="waivers.toml")
    assert caught.value.where == "waivers.toml"


def test_one_id_for_two_waivers_is_refused() -> None:
    second = TEXT.partition("\n\n")[2]
    with pytest.raises(UsageError, match="stands twice"):
        decode_waivers(TEXT + second, where="waivers.toml")


@pytest.mark.parametrize("member", ["owner", "reason", "issue", "release", "requirement", "observation"])
def test_what_a_waiver_lacks_is_named(member: str) -> None:
    emptied = "\n".join(f'{member} = ""' if line.startswith(f"{member} = ") else line for line in TEXT.split("\n"))
    assert emptied != TEXT
    with pytest.raises(UsageError) as caught:
        decode_waivers(emptied, where="waivers.toml")
    assert caught.value.message == f"the waiver 'W-1' has no {member}"
