"""Archives for the tests of sweeps, work functions that spawned workers can import, and a candidate with one vice."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.sweep.reopen import Candidate
from harness.sweep.rows import Row
from harness.sweep.sweeping import Plan, sweep
from harness.sweep.units import Unit
from harness.sweep.work import judge_all
from tests.support import sessions
from tests.support.sessions import Lines, execution

Files = Mapping[bytes, bytes]


def folder(path: Path, files: Files) -> Path:
    for name, content in files.items():
        target = os.path.join(os.fsencode(path), name)  # noqa: PTH118 # bytes: any name
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
        with open(target, "wb") as stream:  # noqa: PTH123
            stream.write(content)
    path.mkdir(exist_ok=True)
    return path


def tar_bytes(files: Files) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", encoding="utf-8", errors="surrogateescape") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name.decode("utf-8", "surrogateescape"))
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def tar(path: Path, files: Files) -> Path:
    path.write_bytes(tar_bytes(files))
    return path


def tar_gz(path: Path, files: Files) -> Path:
    path.write_bytes(gzip.compress(tar_bytes(files), 1))
    return path


def tar_zst(path: Path, files: Files) -> Path:
    from harness.sweep import zstd  # noqa: PLC0415

    with path.open("wb") as stream, zstd.writer(stream) as packed:
        packed.write(tar_bytes(files))
    return path


def zip_(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name.decode(), content)
    return path


KINDS: dict[str, Callable[[Path, Files], Path]] = {
    "folder": folder,
    "tar": tar,
    "tar.gz": tar_gz,
    "tar.zst": tar_zst,
    "zip": zip_,
}


def session(id_: str = "root-session", *, total: int = 1, tool: str = "write") -> bytes:
    """One script that made one call and succeeded; its report claims `total` calls."""
    lines = Lines(id_).user().script().inner(1, tool).inner_result(1)
    report = execution(inner_calls=total, successful=total)
    return lines.result("c", metadata=report).answer().bytes()


def real(name: str) -> dict[bytes, bytes]:
    """A real session of tests/data as the files of a sessions folder."""
    root, children = sessions.load(name)
    return {b"sessions/%s.jsonl" % name.encode(): root} | {
        b"sessions/subagents/%s.jsonl" % identity.encode(): child for identity, child in children.items()
    }


def swept(*archives: Path, jobs: int = 1, **plan: object) -> list[Row]:
    rows: list[Row] = []
    sweep(Plan(archives=archives, jobs=jobs, **plan), rows.append)  # type: ignore[arg-type] # the plan's own members
    return rows


DEADLY = b"kills whoever reads it"


def deadly(units: list[Unit], candidate: Candidate | None) -> list[Row]:
    """`judge_all`, on which a session kills its worker."""
    if any(DEADLY in (unit.content or b"") for unit in units):
        os.kill(os.getpid(), signal.SIGKILL)
    return judge_all(units, candidate)


def once_deadly(units: list[Unit], candidate: Candidate | None) -> list[Row]:
    """`judge_all`, on which a session kills its worker the first time; its text names the file that remembers it."""
    for unit in units:
        for line in (unit.content or b"").splitlines():
            if b'"remember:' in line:
                marker = Path(line.partition(b"remember:")[2].partition(b'"')[0].decode())
                if not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
    return judge_all(units, candidate)


_PRODUCT = """\
#!{python}
import json, os, sys, time
from pathlib import Path
if sys.argv[1:] == ["--version"]:
    print("magi-code 0.0.1")
    sys.exit()
sessions = Path(os.environ["MC_HOME"]) / "sessions"
REVISION = "5e55105e-0000-4000-8000-000000000001"
number = 0
def send(**members):
    global number
    number += 1
    instance = REVISION[:-6] + "%06d" % (os.getpid() % 10**6)
    head = {{"protocol": "magi-code.local-agent", "version": 1, "instance_id": instance, "seq": number}}
    print(json.dumps(head | members), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    identity, method, params = request["id"], request["method"], request["params"]
    if method == "session.open":
        path = sessions / (params["session_id"] + ".jsonl")
        text = path.read_text()
        cwds = {{json.loads(line).get("cwd") for line in text.splitlines()}}
        if "CRASH" in text:
            print("thread 'main' panicked", file=sys.stderr)
            sys.exit(101)
        if "NONSENSE" in text:
            print("no frame at all", flush=True)
            time.sleep(60)
        if cwds != {{os.getcwd()}} or oct(sessions.stat().st_mode)[-3:] != "700":
            send(type="response", id=identity, error={{"code": "cwd_mismatch"}})
            continue
        path.write_text("overwritten by the product")
        opened = {{"durable": True, "notices": [], "revision": REVISION, "session_id": params["session_id"]}}
        send(type="response", id=identity, result=opened)
    elif method == "history.page":
        page = {{"complete": True, "entries": [], "next_cursor": None, "revision": REVISION}}
        send(type="response", id=identity, result=page | {{"session_id": params["session_id"]}})
    elif method == "initialize":
        send(type="response", id=identity, result=json.loads({initialize!r}))
    else:
        send(type="response", id=identity, result={{"state": "stopping"}})
        sys.exit()
"""


def fake_product(path: Path) -> Path:
    """A candidate that opens sessions, shows no card, and crashes on those that say CRASH."""
    capture = gzip.decompress((sessions.DATA.parent / "captures" / "0.104.0-mixed-script.reopen.jsonl.gz").read_bytes())
    answer = json.loads(json.loads(capture.splitlines()[1])["line"])["result"]
    path.write_text(_PRODUCT.format(python=sys.executable, initialize=json.dumps(answer)))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
