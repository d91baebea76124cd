"""Files among the authorizations that are none: they give nothing, take nothing away, and are named with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.authorize.statement import Subject
from harness.cli.app import run
from harness.evidence_folder import read_trust
from tests.support import bundles
from tests.support.authorities import entry, policy_text, signed
from tests.support.bundles import files

NAME = "0.104.0-1.dsse.json"


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    folder = tmp_path / "evidence"
    bundles.write(folder / "0.104.0" / "reads-notes.local-agent")
    (folder / "authorizations").mkdir()
    (folder / "trust-policy.toml").write_text(policy_text(entry("ada")))
    return folder


def lay(evidence: Path, content: bytes, name: str = NAME) -> Path:
    path = evidence / "authorizations" / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is no DSSE envelope"),
        (b"{", "is no DSSE envelope"),
        (signed("ada")[:-20], "is no DSSE envelope"),
        (b'{"payload": "!", "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": ""}]}', "not base64"),
        (b'{"payload": "e30=", "payloadType": "application/vnd.in-toto+json", "signatures": []}', "0 signatures"),
        (
            b'{"payload": "e30=", "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "AA=="}]}',
            "is no authorization statement",
        ),
        (b'{"payload": "e30=", "payloadType": "text/plain", "signatures": [{"sig": "AA=="}]}', "the payload type"),
        (b" " * 4_194_305, "is larger than 4194304 bytes"),
    ],
)
def test_what_cannot_be_read_is_a_reason_and_no_damage(content: bytes, why: str, evidence: Path) -> None:
    lay(evidence, content)
    trust = read_trust(evidence)
    assert [item.name for item in trust.unread] == [f"authorizations/{NAME}"]
    assert why in trust.unread[0].reason
    assert NAME not in trust.unread[0].reason, "the name stands beside the reason already"
    assert trust.claims == ()
    assert set(trust.authorizations) == {NAME}


def test_links_folders_and_other_names_are_told_and_hidden_files_are_not(evidence: Path) -> None:
    (evidence / "authorizations" / "folder.dsse.json").mkdir()
    (evidence / "authorizations" / "link.dsse.json").symlink_to(evidence / "trust-policy.toml")
    lay(evidence, b"", "forgotten.json")
    lay(evidence, b"", ".gitkeep")
    trust = read_trust(evidence)
    assert {item.name.removeprefix("authorizations/"): item.reason for item in trust.unread} == {
        "folder.dsse.json": "is no plain file",
        "link.dsse.json": "is no plain file",
        "forgotten.json": "its name does not end in .dsse.json",
    }


def judged(evidence: Path, reports: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    features = reports.parent / "features"
    features.mkdir(exist_ok=True)
    (features / "one.feature").write_text(
        'Feature: One\n  Scenario: Else\n    Given the model answers "Done."\n    When the prompt "Go." is run\n'
    )
    code = run(
        ["accept", "--evidence", str(evidence), "--features", str(features), "--reports", str(reports), "--json"]
    )
    return code, json.loads(capsys.readouterr().out)


def test_the_verdict_and_every_report_name_it(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(evidence, b"<script>", "a-<b>.dsse.json")
    before = files(evidence)
    code, verdict = judged(evidence, tmp_path / "reports", capsys)
    assert verdict["unread_authorizations"][0]["name"] == "authorizations/a-<b>.dsse.json"
    assert any(
        reason.startswith("authorizations that cannot be read count for nothing") for reason in verdict["reasons"]
    )
    assert [item["bundle"] for item in verdict["damaged"]] == ["reads-notes.local-agent"], "its capture is no frames"
    assert code == 4
    page = (tmp_path / "reports" / "report.html").read_text()
    assert "Authorizations that cannot be read" in page
    assert "<b>.dsse.json" not in page
    assert "Authorizations that cannot be read" in (tmp_path / "reports" / "report.md").read_text()
    assert files(evidence) == before


def test_it_does_not_outweigh_an_authorization_that_can_be_read(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one who may only add files must not be able to undo what an authority signed, nor to forge it."""
    manifest = (evidence / "0.104.0" / "reads-notes.local-agent" / "manifest.json.sha256").read_text().split()[0]
    good = signed("ada", subjects=(Subject(name="x", digest={"sha256": manifest}),))
    lay(evidence, good, "good.dsse.json")
    lay(evidence, good.replace(b"payload", b"PAYLOAD"), "broken.dsse.json")
    bundle = str(evidence / "0.104.0" / "reads-notes.local-agent")
    assert run(["verify", bundle, "--evidence", str(evidence), "--at", "2026-11-30", "--json"]) == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(Path(item["bundle"]).name, item["status"]) for item in lines] == [
        ("broken.dsse.json", "unread"),
        ("reads-notes.local-agent", "stale"),
    ]
    assert "by ada until" in lines[1]["reasons"][1]
