"""What a newcomer stumbled over: bundles in the wrong place, a policy that is not asked, reports half replaced."""

from __future__ import annotations

import html
import json
import shutil
from pathlib import Path

import pytest

from harness.cli import loud
from harness.cli.app import CLOSED_PIPE, run

ROOT = Path(__file__).parents[3]
RELEASE = "0.104.0"
NAME = "fatal-failure.local-agent"


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    folder = tmp_path / "evidence"
    shutil.copytree(ROOT / "evidence" / RELEASE / NAME, folder / RELEASE / NAME)
    return folder


@pytest.fixture
def signed(evidence: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, signed by an authority of its own policy."""
    monkeypatch.delenv("HARNESS_KEY_PASSPHRASE", raising=False)
    keys = tmp_path / "keys"
    assert run(["authority", "new", str(keys)]) == 0
    public = (keys / "release-authority.pub.pem").read_text(encoding="utf-8")
    (evidence / "trust-policy.toml").write_text(
        f'schema = 1\nthreshold = 1\n\n[[key]]\nname = "own"\nrole = "authority"\npublic_key = """\n{public}"""\n',
        encoding="utf-8",
    )
    key = str(keys / "release-authority.pem")
    command = ["authorize", str(evidence / RELEASE / NAME), "--key", key, "--reason", "seen", "--yes"]
    assert run([*command, "--evidence", str(evidence)]) == 0
    return evidence


def test_the_policy_beside_a_bundle_counts_for_it(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for named in ([str(signed)], [str(signed / RELEASE)], [str(signed / RELEASE / NAME)], ["--evidence", str(signed)]):
        capsys.readouterr()
        assert run(["verify", *named]) == 0, named
        assert "1 authorized" in capsys.readouterr().out


def test_a_bundle_under_another_name_or_release_is_damaged(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (signed / RELEASE / NAME).rename(signed / RELEASE / "other")
    assert run(["verify", "--evidence", str(signed), str(signed)]) == 4
    assert f"holds the observation {NAME}" in capsys.readouterr().out
    (signed / RELEASE / "other").rename(signed / RELEASE / NAME)
    (signed / RELEASE).rename(signed / "0.105.0")
    assert run(["verify", str(signed)]) == 4
    assert f"stands under 0.105.0 and is of release {RELEASE}" in " ".join(capsys.readouterr().out.split())


def test_the_main_job_takes_no_bundle_of_another_release_or_run(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = ["accept", "--evidence", str(evidence), "--reports", str(tmp_path / "reports")]
    (evidence / RELEASE).rename(evidence / "0.105.0")
    assert run(judge) == 4
    assert f"stands under 0.105.0 and is of release {RELEASE}" in " ".join(capsys.readouterr().out.split())
    (evidence / "0.105.0").rename(evidence / RELEASE)
    (evidence / RELEASE / NAME).rename(evidence / RELEASE / "other")
    assert run(judge) == 4
    assert f"holds the observation {NAME}" in " ".join(capsys.readouterr().out.split())


def test_the_main_job_says_which_runs_of_the_scenarios_are_not_there(evidence: Path, tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    assert run(["accept", "--evidence", str(evidence), "--reports", str(reports)]) == 3
    reasons = json.loads((reports / "verdict.json").read_bytes())["reasons"]
    assert "50 original runs that the scenarios ask for are not there" in " ".join(reasons)
    assert (
        run(["accept", "--evidence", str(evidence), "--reports", str(reports), "--features", str(_one(tmp_path))]) == 3
    )
    reasons = json.loads((reports / "verdict.json").read_bytes())["reasons"]
    assert "an original run that the scenarios ask for is not there: fatal-failure.mission-control" in reasons


def test_reports_of_other_evidence_name_it_and_nothing_of_this_machine(
    evidence: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary, reports = tmp_path / "summary.md", tmp_path / "reports"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    at = ["--at", "2026-11-30T12:00:00Z"]
    for folder, called in ((evidence, "EVIDENCE"), (Path("evidence of mine"), "'evidence of mine'")):
        if not folder.is_absolute():
            monkeypatch.chdir(tmp_path)
            evidence.rename(tmp_path / folder)
        summary.unlink(missing_ok=True)
        assert run(["accept", "--evidence", str(folder), "--reports", str(reports), *at, "-q"]) == 3
        texts = {path.name: html.unescape(path.read_text(encoding="utf-8")) for path in (*reports.iterdir(), summary)}
        assert [name for name, text in texts.items() if str(tmp_path) in text] == []
        for name in ("report.html", "report.md", "summary.md"):
            assert f"harness accept --release {RELEASE} {' '.join(at)} --evidence {called}" in texts[name], name
            assert f"harness verify --evidence {called}" in texts[name], name


def _one(folder: Path) -> Path:
    """Features of which only the scenario of the evidence is left."""
    from harness.acceptance import load_scenarios  # noqa: PLC0415

    scenario = next(item for item in load_scenarios(ROOT / "features") if item.observation("local-agent") == NAME)
    features = folder / "features"
    features.mkdir()
    text = "".join(f"  {line}\n" for line in scenario.gherkin.splitlines())
    (features / scenario.feature).write_text(f"Feature: One\n{text}", encoding="utf-8")
    return features


def test_a_file_that_is_no_bundle_is_a_mistyped_name(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(evidence / RELEASE / NAME / "manifest.json")]) == 2
    assert "is no bundle" in capsys.readouterr().err


def test_no_report_is_replaced_when_one_cannot_be(
    evidence: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = tmp_path / "reports"
    (reports / "junit.xml").mkdir(parents=True)
    judge = ["accept", "--evidence", str(evidence), "--reports", str(reports)]
    assert run(judge) == 2
    assert "junit.xml" in capsys.readouterr().err
    assert [path.name for path in reports.iterdir()] == ["junit.xml"]
    (reports / "junit.xml").rmdir()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere" / "summary.md"))
    assert run(judge) == 2
    assert "step summary" in capsys.readouterr().err
    assert list(reports.iterdir()) == []


def test_a_library_that_leaves_by_itself_never_says_rejected() -> None:
    def leaves() -> int:
        raise SystemExit(1)

    with pytest.raises(loud.ClosedPipe):
        loud.with_loudness(leaves)(quiet=False, verbose=False)
    assert CLOSED_PIPE == 141


def test_no_key_is_made_in_a_git_work_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".git").mkdir()
    assert run(["authority", "new", str(tmp_path / "deep" / "keys")]) == 2
    assert "git work tree" in capsys.readouterr().err
    assert not (tmp_path / "deep").exists()
