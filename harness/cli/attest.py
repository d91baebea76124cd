"""Verdict statements on disk: written by `harness accept --attest`, checked and re-judged by `harness verify`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness import selfcheck_file, stability_file
from harness.acceptance import Accepted, accept
from harness.authorize import attestation, envelope, keys
from harness.cli import output, places
from harness.evidence_folder import digest_of
from harness.model.errors import EvidenceError, UsageError
from harness.model.verdict import Verdict
from harness.report import render_all

STATEMENT = "verdict.dsse.json"
SUMMARY = "summary.dsse.json"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def inputs_of(accepted: Accepted, features: Path) -> attestation.Inputs:
    """The digest of everything that the verdict was made of."""
    return attestation.Inputs(
        manifests={name: bundle.sha256 for name, bundle in accepted.verified.items()},
        authorizations=accepted.trust.authorizations,
        features={path.name: _sha256(path.read_bytes()) for path in sorted(features.glob("*.feature"))},
        policy=accepted.trust.policy_sha256,
        waivers=accepted.trust.waivers_sha256,
        selfcheck=digest_of(accepted.evidence / selfcheck_file.FILE),
        stability=digest_of(accepted.evidence / stability_file.FILE),
    )


def attest(accepted: Accepted, files: Mapping[str, bytes], *, key: Path, features: Path) -> dict[str, bytes]:
    """The envelopes of this verdict: the statement, and for an accepted release the SLSA summary, by file name."""
    private = keys.read_private_key(places.key_file(key), places.passphrase(), where=str(key))
    inputs = inputs_of(accepted, features)
    statement = attestation.verdict_statement(accepted.acceptance, inputs, _sha256(files["verdict.json"]))
    made = {STATEMENT: envelope.sign(statement, [private])}
    if accepted.acceptance.verdict is Verdict.ACCEPTED:
        made[SUMMARY] = envelope.sign(attestation.summary_statement(accepted.acceptance, inputs), [private])
    return made


def verify_attestation(path: Path, *, key: Path | None, evidence: Path, features: Path) -> tuple[str, tuple[str, ...]]:
    """Check a verdict statement and judge again as of its time.

    Returns the status (``same``, ``different`` or ``unverified``) and every difference found. Raises EvidenceError
    for a file that is no such statement, UsageError without the public key of whoever is said to have made it.
    """
    if key is None:
        raise UsageError("whose statement is it?", where=str(path), hint="name the public key with --key")
    public = keys.read_public_key(places.key_file(key), where=str(key))
    content = path.read_bytes()
    verified = envelope.verify(envelope.decode(content, where=str(path)), [public], where=str(path))
    if not verified.signers:
        return "unverified", (f"not signed by {keys.fingerprint(public)}",)
    statement = attestation.decode_verdict(verified.payload, payload_type=verified.payload_type, where=str(path))
    stated = statement.predicate
    accepted = accept(evidence=evidence, features=features, release=stated.release, at=stated.at)
    verdict_json = render_all(accepted.acceptance)["verdict.json"]
    found: list[str] = []
    if accepted.acceptance.verdict is not stated.verdict:
        found.append(f"judged again the verdict is {accepted.acceptance.verdict}, stated was {stated.verdict}")
    if _sha256(verdict_json) != stated.verdict_sha256:
        found.append("verdict.json is not the same when judged again")
    if accepted.acceptance.harness != stated.harness:
        found.append(f"stated by harness {stated.harness}, this is {accepted.acceptance.harness}")
    found.extend(_differences(msgspec.to_builtins(stated.inputs), msgspec.to_builtins(inputs_of(accepted, features))))
    return ("different" if found else "same"), tuple(found)


def _differences(stated: dict[str, object], here: dict[str, object]) -> list[str]:
    found: list[str] = []
    for name, before in stated.items():
        now = here[name]
        if isinstance(before, dict) and isinstance(now, dict):
            found.extend(
                f"{name}: {item} is not the one that was judged"
                for item in sorted(before.keys() | now.keys())
                if before.get(item) != now.get(item)
            )
        elif before != now:
            found.append(f"{name} is not the one that was judged")
    return found


def print_attestation(path: Path, status: str, found: tuple[str, ...], *, as_json: bool) -> int:
    """Print the outcome of `verify_attestation`; returns the exit code."""
    if as_json:
        output.emit({"statement": str(path), "status": status, "reasons": found})
    else:
        output.say(f"{path}: {status}")
        for line in found:
            output.say(f"  - {line}")
        if status == "same":
            output.note("  judged again, every input and the verdict are the same")
    return 0 if status == "same" else EvidenceError.exit_code


def is_statement(path: Path) -> bool:
    return path.name.endswith(".dsse.json")
