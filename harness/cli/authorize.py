"""`harness authorize`: a release authority signs original runs, or adds its signature to what another one signed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import output, places
from harness.cli.trust import warn_of_key
from harness.evidence_folder import AUTHORIZATIONS, POLICY, Trust, read_trust
from harness.model.errors import EvidenceError, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from harness.authorize.statement import Statement
    from harness.cli.review import Reviewed

_DAYS = 180
_RFC3339 = "%Y-%m-%dT%H:%M:%SZ"


def authorize_command(
    bundles: Annotated[list[Path] | None, typer.Argument(help="Bundle folders that were reviewed.")] = None,
    key: Annotated[Path | None, typer.Option(help="The authority's private key (PEM, Ed25519).")] = None,
    reason: Annotated[str, typer.Option(help="Why these runs may count.")] = "",
    cosign: Annotated[
        Path | None, typer.Option(help="Add a signature to this envelope instead; it says all the rest.")
    ] = None,
    evidence: Annotated[
        Path | None, typer.Option(help="Where the runs of --cosign lie. Default: the envelope's own evidence folder.")
    ] = None,
    valid_from: Annotated[str | None, typer.Option(help="RFC 3339. Default: now.")] = None,
    expires: Annotated[str | None, typer.Option(help=f"RFC 3339. Default: {_DAYS} days after valid-from.")] = None,
    product_sha256: Annotated[
        list[str] | None, typer.Option(help="Refuse bundles of any other binary. Default: the binaries shown.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the envelopes. Default: authorizations/ of the evidence.")
    ] = None,
    each: Annotated[bool, typer.Option(help="One statement for each bundle instead of one for all.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before signing.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object an envelope; needs --yes.")] = False,
) -> int:
    """Sign original runs that a release authority has reviewed.

    Shows what is about to be signed. Refuses bundles that do not verify, are stale, or hold secrets. With --cosign a
    further authority signs the very statement of an envelope, after all its runs were verified again.

    With --quiet a run is one line: before the question, if there is one, and once it is signed. Without --yes it always
    asks. A warning says when the trust policy beside the runs would not count the signature.

    Example: harness authorize evidence/0.104.0/* --key ~/keys/release-authority.pem --reason "reviewed on 30 November"
    """
    from harness.authorize import keys  # noqa: PLC0415

    if key is None:
        raise UsageError("whose signature?", hint="name the authority's private key with --key")
    if json_ and not yes:
        raise UsageError("--json asks nothing, so it needs --yes", hint="review the runs first, without --json")
    private = keys.read_private_key(places.key_file(key), places.passphrase(), where=str(key))
    if cosign is None:
        if not bundles:
            raise UsageError("no bundle is named", hint="harness authorize evidence/0.104.0/* --key KEY --reason WHY")
        return _Signing(private, yes=yes, as_json=json_).sign(
            bundles, out=out, each=each, product_sha256=product_sha256, span=_span(valid_from, expires), reason=reason
        )
    if bundles or reason or valid_from or expires or product_sha256 or each:
        raise UsageError(
            "the envelope says all that is signed", where=str(cosign), hint="give only --key (and --evidence, --out)"
        )
    return _Signing(private, yes=yes, as_json=json_).cosign(cosign, evidence=evidence, out=out)


def _span(valid_from: str | None, expires: str | None) -> tuple[str, str]:
    """From when until when, RFC 3339 UTC. Raises UsageError when no instant lies between."""
    start = places.parse_time(valid_from)
    end = (
        places.parse_time(expires)
        if expires
        else (datetime.strptime(start, _RFC3339).replace(tzinfo=UTC) + timedelta(days=_DAYS)).strftime(_RFC3339)
    )
    if end <= start:
        raise UsageError(f"would expire at {end}, before it is valid from {start}")
    return start, end


class _Signing:
    """One act of one authority: review, ask, sign. Nothing is written before everything was reviewed."""

    def __init__(self, private: Ed25519PrivateKey, *, yes: bool, as_json: bool) -> None:
        from harness.acceptance import load_scenarios  # noqa: PLC0415
        from harness.authorize.keys import fingerprint  # noqa: PLC0415

        self._private = private
        self._print = fingerprint(private.public_key())
        self._yes, self._as_json = yes, as_json
        self._evidence = Path()  # known once it is known what is signed
        self._scenarios = {item.id: item for item in load_scenarios(places.default_folder("features"))}

    def sign(
        self,
        folders: Sequence[Path],
        *,
        out: Path | None,
        each: bool,
        product_sha256: list[str] | None,
        span: tuple[str, str],
        reason: str,
    ) -> int:
        from harness.acceptance import PRODUCT_NAME  # noqa: PLC0415
        from harness.authorize import envelope, statement  # noqa: PLC0415

        if not reason.strip():
            raise UsageError("a reason is needed", hint='write --reason "what was reviewed"')
        reviewed = [self._review(places.one_bundle(folder), product_sha256 or None) for folder in folders]
        self._evidence = folders[0].resolve().parent.parent
        try:
            self._warn(read_trust(self._evidence))
        except UsageError as error:
            output.warn(f"{error.where} {error.message}", "no signature counts before that is mended")
        if not self._agreed(reviewed, f"Valid from {span[0]} until {span[1]}. Reason: {reason}"):
            return 0
        target = out or self._evidence / AUTHORIZATIONS
        for group in [[item] for item in reviewed] if each else _by_release(reviewed):
            manifests = [item.bundle.manifest for item in group]
            payload = statement.encode(
                tuple(
                    statement.Subject(
                        name=_subject_name(item.bundle.manifest.release, item.bundle.manifest.observation),
                        digest={"sha256": item.bundle.manifest_sha256},
                    )
                    for item in group
                ),
                statement.Authorizes(
                    product=PRODUCT_NAME,
                    release=manifests[0].release,
                    product_sha256=tuple(sorted({made.sha256 for item in manifests for made in item.products})),
                    classes=tuple(sorted({name for item in manifests for name in item.classes})),
                    valid_from=span[0],
                    expires=span[1],
                    reason=reason,
                ),
            )
            path = (
                target
                / f"{manifests[0].release}-{hashlib.sha256(payload).hexdigest()[:12]}-{self._print[:8]}.dsse.json"
            )
            self._write(path, envelope.sign(payload, [self._private]), group, replaced=b"")
        return 0

    def cosign(self, path: Path, *, evidence: Path | None, out: Path | None) -> int:
        """Add a signature to the envelope in `path`, or write one of this signature alone into the folder `out`.

        Both mean the same to whoever counts signatures. Raises EvidenceError for an envelope that is none or whose runs
        are not what it says, UsageError for a statement that this key has signed already or that has expired.
        """
        from harness.authorize import envelope, statement  # noqa: PLC0415

        if path.is_symlink() or not path.is_file():
            raise UsageError("there is no such envelope", where=str(path))
        content = path.read_bytes()
        before = envelope.decode(content, where=str(path))
        folder = self._evidence = evidence or path.resolve().parent.parent
        trust = read_trust(folder)
        policy = trust.policy
        known = [key.key for key in policy.keys]
        verified = envelope.verify(before, [self._private.public_key(), *known], where=str(path))
        said = statement.decode(verified.payload, payload_type=verified.payload_type, where=str(path))
        if self._print in verified.signers:
            raise UsageError(f"the key {self._print[:16]}… has signed it already", where=str(path))
        if said.predicate.expires <= places.parse_time(None):
            raise UsageError(f"expired at {said.predicate.expires}", where=str(path), hint="sign the runs anew")
        reviewed = [self._subject(said, number, folder, str(path)) for number in range(len(said.subject))]
        predicate = said.predicate
        question = (
            f"{path.name} says: {_runs(reviewed)} of {predicate.product} {predicate.release}, valid from "
            f"{predicate.valid_from} until {predicate.expires}. Reason: {predicate.reason}"
        )
        names = [key.name for key in policy.keys if key.fingerprint in verified.signers]
        if verified.unknown:
            names.append(f"{verified.unknown} by no key of the trust policy")
        wanted = f"; the trust policy wants {policy.threshold} of its authorities" if trust.policy_sha256 else ""
        self._warn(trust)
        if not self._agreed(reviewed, f"{question}\nSigned so far: {', '.join(names)}{wanted}"):
            return 0
        if out is None:
            self._write(path, envelope.cosign(before, self._private, where=str(path)), reviewed, replaced=content)
            return 0
        digest = hashlib.sha256(verified.payload).hexdigest()[:12]
        own = out / f"{predicate.release}-{digest}-{self._print[:8]}.dsse.json"
        self._write(own, envelope.sign(verified.payload, [self._private]), reviewed, replaced=b"")
        return 0

    def _warn(self, trust: Trust) -> None:
        policy = trust.policy if trust.policy_sha256 else None
        warn_of_key(self._private.public_key(), policy, self._evidence / POLICY, places.parse_time(None))

    def _subject(self, said: Statement, number: int, folder: Path, where: str) -> Reviewed:
        """The run that a subject names, reviewed. Raises EvidenceError when it is not there or another one."""
        subject, predicate = said.subject[number], said.predicate
        release, _, observation = subject.name.removesuffix("/manifest.json").partition("/")
        if subject.name != _subject_name(release, observation) or not _plain(release) or not _plain(observation):
            raise EvidenceError(f"its subject {subject.name!r} names no run", where=where)
        found = self._review(folder / release / observation, predicate.product_sha256)
        manifest = found.bundle.manifest
        if found.bundle.manifest_sha256 != subject.digest["sha256"]:
            raise EvidenceError(f"{subject.name} is not the one that was signed", where=str(folder))
        if manifest.release != predicate.release or not set(manifest.classes) <= set(predicate.classes):
            raise EvidenceError(f"{subject.name} is of another release or class than signed", where=str(folder))
        return found

    def _review(self, folder: Path, binaries: Sequence[str] | None) -> Reviewed:
        from harness.cli.review import review, show  # noqa: PLC0415

        found = review(folder, self._scenarios, signer=self._print, binaries=binaries)
        if not self._as_json:
            show(found, asked=not self._yes)
        return found

    def _agreed(self, reviewed: Sequence[Reviewed], text: str) -> bool:
        if not self._as_json and not (self._yes and output.loudness() is output.Loudness.QUIET):
            for line in text.split("\n"):
                output.say(line)
        if self._yes or typer.confirm(f"Sign {_runs(reviewed)} with the key {self._print[:16]}…?"):
            return True
        output.say("Nothing was signed.")
        return False

    def _write(self, path: Path, content: bytes, reviewed: Sequence[Reviewed], *, replaced: bytes) -> None:
        """Write an envelope. Raises UsageError when another one than `replaced` lies there."""
        from harness.cli.review import brief, described  # noqa: PLC0415

        there = path.read_bytes() if path.exists() else b""
        if there not in (replaced, content, b""):
            raise UsageError("is another envelope, and none is overwritten", where=str(path), hint="see --out")
        places.write_file(path, content)
        if self._as_json:
            output.emit({"envelope": str(path), "key": self._print, "signed": [described(item) for item in reviewed]})
            return
        if output.loudness() is output.Loudness.QUIET:
            for item in reviewed:
                output.say(f"signed {brief(item)}: {path}")
            return
        output.say(f"signed {_runs(reviewed)}: {path}")
        output.note(f"Next: harness verify {places.shown(self._evidence)}   which runs count now")
        output.note("      harness authorize --cosign ENVELOPE   to add another signature")


def _runs(reviewed: Sequence[Reviewed]) -> str:
    from harness.model.words import plural  # noqa: PLC0415

    return plural(len(reviewed), "original run")


def _subject_name(release: str, observation: str) -> str:
    return f"{release}/{observation}/manifest.json"


def _plain(name: str) -> bool:
    """Whether a name leads nowhere but into the folder that it stands in."""
    return bool(name) and not name.startswith(".") and "/" not in name and "\0" not in name


def _by_release(reviewed: Sequence[Reviewed]) -> list[list[Reviewed]]:
    groups: dict[str, list[Reviewed]] = {}
    for item in reviewed:
        groups.setdefault(item.bundle.manifest.release, []).append(item)
    return list(groups.values())
