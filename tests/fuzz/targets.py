"""Everything of the harness that reads bytes which somebody else wrote, one target each.

A target gives its reader one input. The reader's answer is a value, or an error of ours that says who is to blame;
any other exception escapes and is a fault that was found. What a reader promises of its answer is asserted here, too.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from harness import selfcheck_file, stability_file
from harness.authorize import attestation, keys
from harness.authorize.decide import decide, read_claims
from harness.authorize.policy import Policy, decode_policy
from harness.authorize.statement import PAYLOAD_TYPE
from harness.authorize.statement import decode as decode_statement
from harness.bundle import layout, read_bundle
from harness.bundle.prompt_text import Sent, digests
from harness.bundle.verified import Bundle, Contents, decode_manifest, verified
from harness.cli import finding
from harness.cli.places import parse_time
from harness.compare.waivers import decode_waivers
from harness.compare.whole_run import listing, requests
from harness.examine import examine
from harness.foreign import read as read_foreign
from harness.foreign_folders import find
from harness.model.errors import DecodeError, HarnessError
from harness.model.facts import CardKind, Column
from harness.model.manifest import Capture, Manifest, StoredFile
from harness.model.stimulus import Stimulus, Turn, canonical
from harness.model.verdict import Authorization
from harness.observe import local_agent, mission_control
from harness.observe.mission_control import cast, jsontext
from harness.project import project
from harness.proofs import Proofs
from harness.pytest_plugin import decode_known
from harness.record import mission_control_screen
from harness.record.model_script import ModelScript
from harness.record.saved_session import turns_ended
from harness.record.text_grid import TextGrid
from harness.records import read_session, turns_of
from harness.records.private import private_texts
from harness.scenario.compile import compile_feature
from harness.scenario.expected import parse_expected
from harness.spec.drift import drift
from harness.spec.facts import FACTS
from harness.sweep.archives import opened
from harness.sweep.catalogue import Catalogue
from harness.sweep.reopen import moved
from harness.sweep.rows import Status
from harness.sweep.state import State
from harness.sweep.units import Unit, units
from harness.sweep.work import judge
from harness.terminal import Screen
from harness.terminal.picture import svg
from harness.wire.frames import decode_card, decode_frame, decode_request, read_frame
from harness.wire.locate import Locator
from tests.fuzz.containers import unpack
from tests.support import authorities, bundles

Reader = Callable[[bytes], None]


class Form(StrEnum):
    """What inputs are made of, which tells the dictionary that they are mutated with."""

    JSON = "json"
    TOML = "toml"
    TEXT = "text"
    TERMINAL = "terminal"
    BINARY = "binary"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One reader. `limit`: largest input that is tried, in bytes. `own`: further errors that are answers of it."""

    name: str
    form: Form
    reader: Reader
    limit: int = 16_384
    own: tuple[type[Exception], ...] = ()

    def accepts(self, data: bytes) -> bool:
        """Whether the reader answers with a value. Raises whatever is neither a value nor an error of ours."""
        try:
            self.reader(data)
        except self.own:
            return False
        except HarnessError as error:
            refusal = error
        else:
            return True
        assert refusal.exit_code in (2, 3, 4), f"{refusal!r} blames the harness"
        assert refusal.message, "an error that says nothing"
        assert len(str(refusal)) < 10_000 + 2 * len(data)
        return False


TARGETS: Final[dict[str, Target]] = {}


def _target(form: Form, *, limit: int = 16_384, own: tuple[type[Exception], ...] = ()) -> Callable[[Reader], Reader]:
    def add(reader: Reader) -> Reader:
        name = reader.__name__.removeprefix("_").replace("_", "-")
        TARGETS[name] = Target(name=name, form=form, reader=reader, limit=limit, own=own)
        return reader

    return add


def _text(data: bytes) -> str:
    """Text as a file's reader gives it; surrogates cannot come out of UTF-8."""
    return data.decode("utf-8", "replace")


def in_memory() -> str | None:
    """A folder whose files never reach a disk, None where there is none."""
    shared = Path("/dev/shm")  # noqa: S108 # only folders of its own are made in it
    return os.environ.get("HARNESS_FUZZ_SCRATCH") or (
        str(shared) if shared.is_dir() and os.access(shared, os.W_OK) else None
    )


@functools.cache
def _scratch() -> Path:
    """A folder of this process alone, in memory where there is such a thing."""
    return Path(tempfile.mkdtemp(prefix="harness-fuzz-", dir=in_memory()))


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=_scratch()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def clean_up() -> None:
    """Removes what the targets have used of the disk."""
    shutil.rmtree(_scratch(), ignore_errors=True)
    _scratch.cache_clear()


# Local agent


@_target(Form.JSON, limit=65_536)
def _capture(data: bytes) -> None:
    errors = 0
    for reader in (
        lambda: local_agent.live(data, file="f", complete=True),
        lambda: local_agent.reopen(data, file="f", complete=True),
        lambda: list(local_agent.timeline(data)),
    ):
        try:
            reader()
        except HarnessError as error:
            errors += 1
            last = error
    assert errors in (0, 3), "some readers take a capture that others refuse"
    if errors:
        raise last


@_target(Form.JSON)
def _frame(data: bytes) -> None:
    frame = read_frame(data)
    assert frame.fault or decode_frame(data) == frame


@_target(Form.JSON)
def _request(data: bytes) -> None:
    decode_request(data)


@_target(Form.JSON)
def _card(data: bytes) -> None:
    locator = Locator(data)
    decode_card(data)
    for where in ("", "/blocks/0/rows/1/value", "/title"):
        at = locator.offset(where)
        assert at is None or 0 <= at < len(data)


# Saved sessions


@_target(Form.JSON, limit=65_536)
def _session(data: bytes) -> None:
    file = _scratch() / "session.jsonl"
    file.write_bytes(data)
    turns_ended((file,), 1)
    private_texts(data)
    moved(data, "/elsewhere")
    session = read_session(data, file="f")
    turns_of(session)


@_target(Form.JSON, limit=65_536)
def _projection(data: bytes) -> None:
    files = unpack(data)
    session = files.pop("session.jsonl", b"")
    projection = project(session, files, file="f")
    assert {card.path for card in projection.reference} >= {card.path for card in projection.report.cards}


# Bundles


@_target(Form.JSON)
def _manifest(data: bytes) -> None:
    decode_manifest(data, "f")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _packed(files: Mapping[str, bytes]) -> Contents:
    """A bundle in memory that says of itself exactly what it holds: whatever its members are, its digests are right."""
    members = {"stimulus.json": canonical(_STIMULUS), **files}
    stored = {
        layout.stored_name(name): layout.compress(content) if layout.stored_name(name) != name else content
        for name, content in members.items()
    }
    captures = {
        column.value.rpartition("-")[0] + f".{column.value.rpartition('-')[2]}.{kind}": column
        for kind, columns in (
            ("jsonl", (Column.LOCAL_AGENT_LIVE, Column.LOCAL_AGENT_REOPEN)),
            ("cast", (Column.MISSION_CONTROL_LIVE, Column.MISSION_CONTROL_REOPEN)),
        )
        for column in columns
    }
    manifest = msgspec.structs.replace(
        bundles.manifest(),
        stimulus_sha256=_sha256(members["stimulus.json"]),
        session="session.jsonl.gz" if "session.jsonl" in members else "",
        children=tuple(f"{name}.gz" for name in members if name.startswith("children/")),
        captures=tuple(
            Capture(column=column, file=f"{name}.gz", product=bundles.PRODUCT, complete=True)
            for name, column in captures.items()
            if name in members
        ),
        files={
            target: StoredFile(
                size=len(content),
                sha256=_sha256(content),
                stored_size=len(stored[target]),
                stored_sha256=_sha256(stored[target]),
            )
            for name, content in members.items()
            for target in (layout.stored_name(name),)
        },
    )
    return _sealed(manifest, stored)


def _sealed(manifest: Manifest, stored: Mapping[str, bytes]) -> Contents:
    text = canonical(manifest) + b"\n"
    return Contents(where="f", files={**stored, layout.CHECKSUM: layout.checksum(text), layout.MANIFEST: text})


_STIMULUS = Stimulus(turns=(Turn(prompt="Do it."),))


def _proved(bundle: Bundle) -> None:
    """The comparison of a bundle, and the place of every finding shown."""
    compared = examine(bundle, None).compared
    proofs = Proofs({bundle.manifest.observation: bundle})
    for found in compared.findings[:20]:
        if found.place is not None:
            list(proofs.lines(bundle.manifest.observation, found.place))
    proofs.timeline(bundle.manifest.observation)


@_target(Form.JSON, limit=65_536)
def _bundle(data: bytes) -> None:
    """Members that nobody made sense of before, in a bundle whose digests are right: what a signed forgery would be."""
    files = {name: content for name, content in unpack(data).items() if not name.endswith(".gz")}
    try:
        contents = _packed(files)
    except UnicodeEncodeError:
        return
    _proved(verified(contents))


@_target(Form.BINARY)
def _bundle_folder(data: bytes) -> None:
    """A folder as somebody else hands it over; ``NAME@link``, ``@pipe`` and ``@folder`` are what they say."""
    with _folder() as folder:
        laid = folder / "bundle"
        laid.mkdir()
        _lay(laid, unpack(data))
        manifest = laid / layout.MANIFEST
        checksum = laid / layout.CHECKSUM
        if manifest.is_file() and not manifest.is_symlink() and not os.path.lexists(checksum):
            checksum.write_bytes(layout.checksum(manifest.read_bytes()))
        read_bundle(laid)


def _lay(folder: Path, files: Mapping[str, bytes]) -> None:
    """Everything of `files` that can be there at all, never outside of `folder`."""
    for name, content in files.items():
        plain, _, kind = name.partition("@")
        path = folder / plain.lstrip("/").replace("..", "__")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            match kind:
                case "link":
                    path.symlink_to(os.fsdecode(content[:200].replace(b"\0", b"")) or "x")
                case "pipe":
                    os.mkfifo(path)
                case "folder":
                    path.mkdir()
                case _:
                    path.write_bytes(content)


@_target(Form.JSON)
def _workspace_listing(data: bytes) -> None:
    listing(data, where="f")


@_target(Form.JSON)
def _model_log(data: bytes) -> None:
    requests(data, where="f")


# Mission Control


@_target(Form.JSON)
def _cast(data: bytes) -> None:
    decoded = cast.decode(data)
    for shown in cast.replay(decoded):
        snapshot = shown.screen
        assert len(snapshot.cells) == snapshot.height
        assert {len(row) for row in snapshot.cells} == {snapshot.columns}


_LAYOUT = (
    mission_control.ExpectedCard(path="turn1/call1", kind=CardKind.CODE_MODE),
    mission_control.ExpectedCard(path="turn1/call2", kind=CardKind.SUBAGENT_BATCH),
    mission_control.ExpectedCard(path="turn1/call2/task1", kind=CardKind.TASK),
    mission_control.ExpectedCard(path="turn1/call2/task2", kind=CardKind.TASK),
)


@_target(Form.JSON, limit=65_536)
def _mission_control(data: bytes) -> None:
    for release in ("0.100.0", "0.104.0"):
        column = mission_control.observe(
            data, column=Column.MISSION_CONTROL_REOPEN, file="f", release=release, layout=_LAYOUT
        )
        assert {card.path for card in column.cards} <= {card.path for card in _LAYOUT}


@_target(Form.TERMINAL, limit=6_000)
def _terminal(data: bytes) -> None:
    columns, rows = 23, 7
    screen, grid = Screen(columns, rows), TextGrid(columns, rows)
    for at in range(0, len(data), 97):
        screen.feed(data[at : at + 97])
    grid.feed(_text(data))
    screen.take_replies()
    snapshot = screen.snapshot()
    assert [len(row) for row in snapshot.cells] == [columns] * rows
    assert len(grid.rows()) == rows
    svg(snapshot, title="t")
    shown = grid.rows()
    for pane in (mission_control_screen.tree(shown), mission_control_screen.modal(shown)):
        if pane is not None:
            mission_control_screen.tree_rows(shown, pane)
            mission_control_screen.metadata_toggle(shown, pane)
            mission_control_screen.output_heading(shown, pane)
    mission_control_screen.transcript(shown)
    mission_control_screen.chips(shown)
    mission_control_screen.status(shown)


@_target(Form.JSON, own=(jsontext.NotJsonError,))
def _screen_json(data: bytes) -> None:
    text = _text(data)
    value = jsontext.parse(text)
    assert 0 <= value.start <= value.end <= len(text)


# Scenarios and catalogues


@_target(Form.TEXT)
def _feature(data: bytes) -> None:
    list(compile_feature(_text(data), name="f.feature"))


@_target(Form.TEXT, limit=512)
def _expected(data: bytes) -> None:
    text = _text(data)
    refused: HarnessError | None = None
    taken = False
    for fact in FACTS:
        try:
            parse_expected(text, fact.card, fact.label, where="f")
            taken = True
        except HarnessError as error:
            refused = error
    if refused is not None and not taken:
        raise refused


@_target(Form.TEXT, limit=512)
def _time(data: bytes) -> None:
    parse_time(_text(data))


@_target(Form.TEXT)
def _facts_page(data: bytes) -> None:
    drift(_text(data))


@_target(Form.TOML)
def _known_disagreements(data: bytes) -> None:
    decode_known(_text(data), where="f")


@_target(Form.TOML)
def _waivers(data: bytes) -> None:
    decode_waivers(_text(data), where="f")


# Authorization


@_target(Form.TOML)
def _policy(data: bytes) -> None:
    decode_policy(_text(data), where="f")


@_target(Form.TEXT)
def _keys(data: bytes) -> None:
    refused = []
    for read in (
        lambda: keys.read_public_key(data, where="f"),
        lambda: keys.read_private_key(data, None, where="f"),
        lambda: keys.read_private_key(data, b"x", where="f"),
    ):
        try:
            read()
        except HarnessError as error:
            refused.append(error)
    if len(refused) == 3:
        raise refused[0]


@functools.cache
def _trust() -> Policy:
    return authorities.policy(authorities.entry("ann"))


@_target(Form.JSON)
def _envelope(data: bytes) -> None:
    claims, broken = read_claims({"e": data}, _trust())
    assert len(claims) + len(broken) == 1
    decision = decide(
        bundles.manifest(), authorities.MANIFEST_SHA256, claims, _trust(), product="magi-code", at=authorities.AT
    )
    if decision.status is Authorization.AUTHORIZED:
        assert claims[0].statement.predicate == authorities.PREDICATE
    for name, reason in broken:
        raise DecodeError(reason, where=name)


@_target(Form.JSON)
def _statement(data: bytes) -> None:
    decode_statement(data, payload_type=PAYLOAD_TYPE, where="f")


@_target(Form.JSON)
def _verdict_statement(data: bytes) -> None:
    attestation.decode_verdict(data, payload_type=PAYLOAD_TYPE, where="f")


# What the harness itself has written, and somebody may have changed


@_target(Form.JSON)
def _selfcheck_result(data: bytes) -> None:
    read = selfcheck_file.decode(data, where="f")
    assert selfcheck_file.decode(selfcheck_file.encode(read), where="f") == read


@_target(Form.JSON)
def _stability_record(data: bytes) -> None:
    read = stability_file.decode(data, where="f")
    assert stability_file.decode(stability_file.encode(read), where="f") == read


@_target(Form.JSON)
def _verdict_json(data: bytes) -> None:
    """The last report, as `harness show` looks into it: a hint that helps or does not."""
    with _folder() as folder, contextlib.chdir(folder):
        (folder / "reports").mkdir()
        (folder / "reports" / "verdict.json").write_bytes(data)
        assert finding._reported("F-0", folder, folder, "0.104.0") is None  # else all is judged


# Other people's captures and archives


@_target(Form.JSON, limit=65_536)
def _import_folder(data: bytes) -> None:
    with _folder() as folder:
        _lay(folder, unpack(data))
        found = find(folder)
        for run in found.folders:
            read_foreign(run)


def _swept(path: Path) -> None:
    with opened(path) as archive, contextlib.closing(Catalogue()) as catalogue:
        catalogue.add(0, archive.members())
        catalogue.ready()
        for unit in units([("archive", archive)], catalogue):
            _judged(unit)
        catalogue.orphans()


def _judged(unit: Unit) -> None:
    row = judge(unit, None)
    assert row.status is not Status.FAULT, row.findings


@_target(Form.BINARY, limit=65_536)
def _sweep_archive(data: bytes) -> None:
    path = _scratch() / "archive"
    path.write_bytes(data)
    _swept(path)


@_target(Form.JSON, limit=65_536)
def _sweep_folder(data: bytes) -> None:
    with _folder() as folder:
        _lay(folder, unpack(data))
        _swept(folder)


@_target(Form.BINARY)
def _sweep_state(data: bytes) -> None:
    path = _scratch() / "state.sqlite"
    for left in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        left.unlink(missing_ok=True)
    path.write_bytes(data)
    unit = Unit(
        archive="a",
        session="s",
        content=b"",
        children={},
        child_files={},
        problems=(),
        synthetic=False,
        digest="00" * 32,
    )
    with State(path, None, resume=True) as state:
        state.known(unit)
        state.keep(judge(unit, None))


# The recorder's model server


@_target(Form.JSON)
def _prompt_text(data: bytes) -> None:
    sent = Sent()
    sent.take(data)
    assert sent.digests <= digests(data) | sent.digests


@_target(Form.JSON)
def _model_request(data: bytes) -> None:
    ModelScript(Stimulus(lanes={"main": (), "Look": ()}, turns=(Turn(prompt="Do it."),))).admit(data)
