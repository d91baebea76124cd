"""Bundles of others' captures: what would let them pass for recordings of our own, or count without anybody knowing
their binary; and what a bad folder leaves behind."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import msgspec
import pytest

from harness.acceptance import accept, load_scenarios
from harness.authorize import statement
from harness.authorize.decide import decide, read_claims
from harness.bundle import Bundle, read_bundle
from harness.bundle.layout import stored_name
from harness.cli.places import default_folder
from harness.examine import examine
from harness.importing import FOREIGN_STIMULUS, Outcome, Provenance, import_captures, product
from harness.model.errors import UsageError
from harness.model.facts import SURFACES, Column
from harness.model.manifest import UNKNOWN_SHA256, Manifest, Product
from harness.model.stimulus import canonical, digest
from harness.model.values import NotComparable, Reason
from harness.model.verdict import Agreement, Authorization, FindingKind, Verdict
from tests.support import authorities, bundles
from tests.support.foreign import changed_records, files_of, lay, live_cast, session_of, tree

LA_LIVE, LA_REOPEN = Column.LOCAL_AGENT_LIVE, Column.LOCAL_AGENT_REOPEN
MC_LIVE, MC_REOPEN = Column.MISSION_CONTROL_LIVE, Column.MISSION_CONTROL_REOPEN
NEW = Product(version="0.104.0", sha256="a" * 64)
OLD = Product(version="0.96.6", sha256="b" * 64)
UNKNOWN = Product(version="0.104.0", sha256=UNKNOWN_SHA256)
AT = "2026-11-30T12:00:00Z"
RECORDED = ("local-agent.live.jsonl", "local-agent.reopen.jsonl")


def imported(captures: Path, out: Path, provenance: Provenance | None = None, *, replace: bool = False) -> Outcome:
    return import_captures(captures, provenance or Provenance(product=UNKNOWN), out=out, replace=replace)


def bundle_of(outcome: Outcome) -> Bundle:
    """The only bundle that was made, read back."""
    assert outcome.refused == ()
    (made,) = outcome.imported
    return read_bundle(Path(made.bundle))


def test_a_bundle_says_that_its_recorder_was_foreign_and_what_nobody_stated(tmp_path: Path) -> None:
    outcome = imported(lay(tmp_path / "Mixed script!", "mixed-batch"), tmp_path / "evidence")

    bundle = bundle_of(outcome)
    manifest = bundle.manifest
    assert outcome.exit_code == 0
    assert Path(bundle.folder) == tmp_path / "evidence/0.104.0/mixed-script.local-agent.imported"
    assert (manifest.recorder.foreign, manifest.recorder.name, manifest.recorder.key) == (True, "import", "")
    assert (manifest.scenario, manifest.classes, manifest.release) == ("", (), "0.104.0")
    assert (manifest.driver, manifest.workspace) == ("local-agent", "/acceptance/mixed-batch/ws")
    assert manifest.recorded_at == "2026-11-30T11:54:56Z"
    assert manifest.products == (UNKNOWN,)
    assert [(item.column, item.product, item.complete) for item in manifest.captures] == [
        (LA_LIVE, UNKNOWN, True),
        (LA_REOPEN, UNKNOWN, True),
        (MC_REOPEN, UNKNOWN, True),
    ]
    assert bundle.stored["stimulus.json"] == canonical(FOREIGN_STIMULUS)
    assert any("not be authorized" in note for note in outcome.imported[0].notes)


def test_every_byte_of_the_captures_is_kept_and_nothing_else_is(tmp_path: Path) -> None:
    bundle = bundle_of(imported(lay(tmp_path / "run", "mixed-batch"), tmp_path / "evidence"))

    originals = {stored_name(name): content for name, content in files_of("mixed-batch").items()}
    assert {name: bundle.read(name) for name in bundle.manifest.files if name != "stimulus.json"} == originals


def test_an_older_release_that_drove_is_named_for_what_it_did(tmp_path: Path) -> None:
    captures = lay(tmp_path / "legacy-script", "legacy-script")
    bundle = bundle_of(imported(captures, tmp_path / "evidence", Provenance(product=NEW, recorded_by=OLD)))

    assert bundle.manifest.release == "0.104.0"
    assert bundle.manifest.products == (OLD, NEW)
    assert [(item.column, item.product) for item in bundle.manifest.captures] == [
        (LA_LIVE, OLD),
        (LA_REOPEN, NEW),
        (MC_REOPEN, NEW),
    ]
    unavailable = examine(bundle, None).compared.unavailable
    assert "0.96.6, which is not under test" in unavailable[LA_LIVE].detail
    assert LA_REOPEN not in unavailable


def test_the_older_release_may_itself_be_under_test(tmp_path: Path) -> None:
    captures = lay(tmp_path / "legacy-script", "legacy-script")
    provenance = Provenance(product=NEW, recorded_by=OLD, release="0.96.6")
    bundle = bundle_of(imported(captures, tmp_path / "evidence", provenance))

    unavailable = examine(bundle, None).compared.unavailable
    assert bundle.manifest.release == "0.96.6"
    assert "0.104.0, which is not under test" in unavailable[LA_REOPEN].detail
    assert "0.104.0, which is not under test" in unavailable[MC_REOPEN].detail
    assert LA_LIVE not in unavailable


def test_a_session_of_an_older_release_is_pointed_out(tmp_path: Path) -> None:
    captures = lay(tmp_path / "legacy-script", "legacy-script")

    (told,) = imported(captures, tmp_path / "one").imported
    (said,) = imported(captures, tmp_path / "two", Provenance(product=NEW, recorded_by=OLD)).imported
    (plain,) = imported(lay(tmp_path / "run"), tmp_path / "three", Provenance(product=NEW)).imported

    assert any("no record of the session has an event id" in note for note in told.notes)
    assert not any("event id" in note for note in (*said.notes, *plain.notes))


# Who drove


def test_without_a_live_capture_somebody_must_say_who_drove(tmp_path: Path) -> None:
    captures = lay(tmp_path / "run", without=("local-agent.live.jsonl",))
    silent = imported(captures, tmp_path / "evidence")
    said = imported(captures, tmp_path / "evidence", Provenance(product=UNKNOWN, driver="mission-control"))

    assert silent.exit_code == 2
    assert "no live capture is there" in silent.refused[0].reason
    bundle = bundle_of(said)
    assert (bundle.manifest.driver, bundle.manifest.observation) == ("mission-control", "run.mission-control.imported")
    unavailable = examine(bundle, None).compared.unavailable
    assert unavailable[MC_LIVE].detail == "the run itself was not captured"
    assert unavailable[LA_LIVE].detail == "the run was driven by mission control"


def test_the_live_capture_outweighs_what_is_said_and_that_is_told(tmp_path: Path) -> None:
    outcome = imported(lay(tmp_path / "run"), tmp_path / "evidence", Provenance(product=NEW, driver="mission-control"))

    assert bundle_of(outcome).manifest.driver == "local-agent"
    assert any("not by mission-control" in note for note in outcome.imported[0].notes)


def test_two_live_captures_need_a_word_too(tmp_path: Path) -> None:
    more = {"mission-control.live.cast": live_cast("0.100.0-killed-script-live")}
    captures = lay(tmp_path / "run", more=more)

    silent = imported(captures, tmp_path / "evidence")
    said = imported(captures, tmp_path / "evidence", Provenance(product=NEW, driver="local-agent"))

    assert "both surfaces have a live capture" in silent.refused[0].reason
    assert [item.column for item in bundle_of(said).manifest.captures] == [LA_LIVE, LA_REOPEN, MC_LIVE, MC_REOPEN]


# One bad folder among several


def test_a_bad_folder_keeps_no_other_from_being_imported_and_leaves_nothing(tmp_path: Path) -> None:
    captures, out = tmp_path / "captures", tmp_path / "evidence"
    lay(captures / "good")
    lay(captures / "strange", more={"notes.md": b"?"})
    lay(captures / "torn", "cancelled-script", more={"local-agent.reopen.jsonl": b"not a capture\n"})
    (captures / "empty").mkdir()

    outcome = imported(captures, out)

    assert [Path(item.bundle).name for item in outcome.imported] == ["good.local-agent.imported"]
    assert [(Path(item.folder).name, item.exit_code) for item in outcome.refused] == [
        ("empty", 2),
        ("strange", 2),
        ("torn", 4),
    ]
    assert outcome.exit_code == 4
    assert {path.name for path in (out / "0.104.0").iterdir()} == {"good.local-agent.imported"}


def test_folders_of_one_name_are_all_refused(tmp_path: Path) -> None:
    captures, out = tmp_path / "captures", tmp_path / "evidence"
    lay(captures / "a" / "run")
    lay(captures / "b" / "Run")

    outcome = imported(captures, out)

    assert outcome.imported == ()
    assert [Path(item.folder).name for item in outcome.refused] == ["run", "Run"]
    assert all("would be the observation run" in item.reason for item in outcome.refused)
    assert tree(out) == {}


def test_a_name_without_letters_is_refused(tmp_path: Path) -> None:
    outcome = imported(lay(tmp_path / "___"), tmp_path / "evidence")

    assert "no letter or digit" in outcome.refused[0].reason
    assert tree(tmp_path / "evidence") == {}


@pytest.mark.parametrize(
    ("cwd", "found"), [("/ho" + "me/somebody/ws", "a home folder"), ("/srv/ghp_" + "a1B2" * 10, "a GitHub token")]
)
def test_what_must_not_be_published_is_not_imported(tmp_path: Path, cwd: str, found: str) -> None:
    session = changed_records(files_of("mixed-script")["session.jsonl"], lambda record: record.update(cwd=cwd))

    outcome = imported(lay(tmp_path / "run", more={"session.jsonl": session}), tmp_path / "evidence")

    (refused,) = outcome.refused
    assert refused.exit_code == 4
    assert f"session.jsonl: {found} at byte" in refused.reason
    assert cwd not in refused.reason
    assert tree(tmp_path / "evidence") == {}


def test_a_name_of_the_importing_machine_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "acceptance")  # stands in the paths of the captures

    (refused,) = imported(lay(tmp_path / "run"), tmp_path / "evidence").refused

    assert "a name of the recording machine or its user" in refused.reason


def test_what_is_there_is_replaced_only_when_asked_and_never_a_recording(tmp_path: Path) -> None:
    captures, out = lay(tmp_path / "mixed-script"), tmp_path / "evidence"
    recording = out / "0.104.0" / "mixed-script.local-agent"
    bundles.write(recording, observation="mixed-script.local-agent")
    imported(captures, out)
    before = tree(out)

    again = imported(captures, out, Provenance(product=NEW))
    assert "is already there" in again.refused[0].reason
    assert again.exit_code == 2
    assert tree(out) == before

    replaced = imported(captures, out, Provenance(product=NEW), replace=True)
    assert bundle_of(replaced).manifest.products == (NEW,)
    assert {name for name in tree(out) if tree(out)[name] != before.get(name)} == {
        f"0.104.0/mixed-script.local-agent.imported/{name}" for name in ("manifest.json", "manifest.json.sha256")
    }


# What the caller says


@pytest.mark.parametrize(
    ("version", "sha256"),
    [("", ""), ("latest", ""), ("../0.104.0", ""), ("0.104.0/..", ""), ("0.104.0", "a" * 63), ("0.104.0", "A" * 64)],
)
def test_a_product_that_is_none_is_refused(version: str, sha256: str) -> None:
    with pytest.raises(UsageError) as caught:
        product(version, sha256)

    assert caught.value.hint


def test_a_product_without_a_digest_says_that_it_is_not_known() -> None:
    assert product("0.104.0") == UNKNOWN
    assert product("0.104.0", "a" * 64) == NEW


@pytest.mark.parametrize(
    ("provenance", "said"),
    [
        (Provenance(product=NEW, release="0.96.6"), "no capture is of 0.96.6"),
        (Provenance(product=NEW, driver="terminal"), "'terminal' is no driver"),
    ],
)
def test_statements_that_cannot_be_are_refused_before_anything_is_read(
    tmp_path: Path, provenance: Provenance, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        imported(lay(tmp_path / "run"), tmp_path / "evidence", provenance)

    assert tree(tmp_path / "evidence") == {}


def test_a_run_in_which_the_release_under_test_did_nothing_is_refused(tmp_path: Path) -> None:
    reopened = ("local-agent.reopen.jsonl", "mission-control.reopen.cast")
    captures = lay(tmp_path / "run", "legacy-script", without=reopened)

    outcome = imported(captures, tmp_path / "evidence", Provenance(product=NEW, recorded_by=OLD))

    assert "no capture is of 0.104.0" in outcome.refused[0].reason


# Authority and scenario


@pytest.mark.parametrize("known", [(True, False), (False, True), (False, False)])
def test_a_run_whose_binary_is_not_known_can_never_be_authorized(tmp_path: Path, known: tuple[bool, bool]) -> None:
    """Neither by a statement that names every other binary, nor by one that names the unknown one: there is none."""
    new, old = (
        Product(version=item.version, sha256=item.sha256 if here else UNKNOWN_SHA256)
        for item, here in zip((NEW, OLD), known, strict=True)
    )
    captures = lay(tmp_path / "legacy-script", "legacy-script")
    bundle = bundle_of(imported(captures, tmp_path / "evidence", Provenance(product=new, recorded_by=old)))
    subject = statement.Subject(name="any", digest={"sha256": bundle.manifest_sha256})
    trust = authorities.policy(authorities.entry("alice"))

    def decided(*digests: str, manifest: Manifest = bundle.manifest) -> tuple[Authorization, str]:
        envelope = authorities.signed("alice", subjects=[subject], product_sha256=digests)
        claims, broken = read_claims({"a.dsse.json": envelope}, trust)
        assert broken == ()
        decision = decide(manifest, bundle.manifest_sha256, claims, trust, product=authorities.PRODUCT, at=AT)
        return decision.status, decision.detail

    refusal = (Authorization.WRONG_SCOPE, "the run does not say which binary it is of")
    assert decided(NEW.sha256, OLD.sha256) == refusal
    assert decided() == refusal
    for invented in itertools.chain([UNKNOWN_SHA256, "unknown", "0" * 63]):
        with pytest.raises(UsageError, match="is no sha256"):
            decided(NEW.sha256, OLD.sha256, invented)
    whole = msgspec.structs.replace(
        bundle.manifest,
        products=(OLD, NEW),
        captures=tuple(
            msgspec.structs.replace(item, product=OLD if item.product.version == OLD.version else NEW)
            for item in bundle.manifest.captures
        ),
    )
    assert decided(NEW.sha256, OLD.sha256, manifest=whole)[0] is Authorization.AUTHORIZED


def test_no_scenario_has_the_stimulus_of_imports() -> None:
    scenarios = [scenario for scenario in load_scenarios(default_folder("features")) if scenario.drivers]

    assert scenarios, "those that are recorded: a scenario over every run has no run of its own"
    assert digest(FOREIGN_STIMULUS) not in {scenario.stimulus_sha256 for scenario in scenarios}
    assert FOREIGN_STIMULUS.turns == ()
    assert all(scenario.stimulus.turns for scenario in scenarios)


def test_imported_evidence_is_judged_and_decides_nothing(tmp_path: Path) -> None:
    captures, out = tmp_path / "captures", tmp_path / "evidence"
    for sample in ("mixed-script", "cancelled-script"):
        lay(captures / sample, sample)
    imported(captures, out)

    accepted = accept(evidence=out, features=default_folder("features"), release="0.104.0", at=AT, jobs=1)

    acceptance = accepted.acceptance
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert acceptance.damaged == ()
    assert acceptance.release.sha256 == ()
    assert [(item.id, item.stale, item.authorization) for item in acceptance.observations] == [
        ("cancelled-script.local-agent.imported", False, Authorization.UNAUTHORIZED),
        ("mixed-script.local-agent.imported", False, Authorization.UNAUTHORIZED),
    ]
    for item in acceptance.observations:
        assert {column for column in SURFACES if item.surfaces[column].agree} == {LA_LIVE, LA_REOPEN, MC_REOPEN}
        assert item.recorder.foreign
    outcomes = {
        (found.surface, found.observed)
        for found in acceptance.findings
        if found.label == "Script outcome" and found.kind is FindingKind.VALUE
    }
    assert outcomes == {(column.value, "failure") for column in (LA_LIVE, LA_REOPEN, MC_REOPEN)}


# What is not there


def test_without_a_session_the_surfaces_are_held_against_each_other_alone(tmp_path: Path) -> None:
    whole = bundle_of(imported(lay(tmp_path / "whole"), tmp_path / "one"))
    bundle = bundle_of(imported(lay(tmp_path / "run", without=("session.jsonl",)), tmp_path / "two"))

    compared = examine(bundle, None).compared
    total = next(row for row in compared.rows if row.label == "Total calls")
    assert (bundle.manifest.session, bundle.manifest.workspace) == ("", "")
    assert isinstance(total.reference, NotComparable)
    assert {str(fact.value) for fact in total.cells[MC_REOPEN].readings} == {"3"}
    assert {cell.agreement for cell in total.cells.values()} == {Agreement.NOT_COMPARABLE}
    kinds = {found.kind for found in compared.findings}
    assert FindingKind.CARD not in kinds
    assert kinds <= {found.kind for found in examine(whole, None).compared.findings}


def test_screens_alone_are_no_cards_and_no_findings(tmp_path: Path) -> None:
    captures = lay(tmp_path / "run", without=("session.jsonl", *RECORDED))
    bundle = bundle_of(imported(captures, tmp_path / "out", Provenance(product=NEW, driver="local-agent")))

    compared = examine(bundle, None).compared

    assert compared.findings == ()
    assert compared.rows == ()
    assert compared.unavailable[MC_REOPEN].reason is Reason.NOT_CAPTURED
    assert "which cards are on the screen" in compared.unavailable[MC_REOPEN].detail


def test_another_value_on_one_surface_is_found_without_a_session(tmp_path: Path) -> None:
    live = files_of("mixed-script")["local-agent.live.jsonl"]
    lines = live.splitlines(keepends=True)
    wrong = b'\\"label\\":\\"Total calls\\",\\"outcome\\":\\"unknown\\",\\"value\\":\\"%d\\"'
    changed = b"".join(line.replace(wrong % 3, wrong % 4) for line in lines)
    assert changed != live
    captures = lay(tmp_path / "run", without=("session.jsonl",), more={"local-agent.live.jsonl": changed})

    compared = examine(bundle_of(imported(captures, tmp_path / "out")), None).compared

    assert (FindingKind.SURFACES, "Total calls", "local-agent-reopen", "4 as on local-agent-live", "3") in [
        (found.kind, found.label, found.surface, found.expected, found.observed) for found in compared.findings
    ]


def test_a_live_screen_of_a_killed_run_is_held_against_nothing(tmp_path: Path) -> None:
    """A run that was killed: what its screen shows was true of that moment, and is held against nothing."""
    lines = live_cast("0.100.0-killed-script-live").splitlines(keepends=True)
    folder = tmp_path / "killed"
    folder.mkdir()
    plain = b"".join(lines[:1] + [line for line in lines[1:] if json.loads(line)[1] != "m"])
    (folder / "mission-control.live.cast").write_bytes(plain)
    (folder / "session.jsonl").write_bytes(session_of("0.104.0-killed-script"))

    bundle = bundle_of(imported(folder, tmp_path / "out", Provenance(product=Product(version="0.100.0", sha256=""))))

    assert bundle.manifest.driver == "mission-control"
    assert [item.complete for item in bundle.manifest.captures] == [False]
    assert not [found for found in examine(bundle, None).compared.findings if found.surface == MC_LIVE.value]
