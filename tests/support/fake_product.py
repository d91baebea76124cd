"""A stand-in for the product with one vice, to show what the recorder says and does when a product misbehaves.

Run as ``fake_product.py VICE ARGUMENTS…``. It speaks just enough of both surfaces for a run without any card. What
only a real run can show is never claimed from it. ``replays=FOLDER`` is no vice by itself: it says and shows what the
captures in a folder hold, so that a change of them is a product that lies.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tty
import urllib.request
from pathlib import Path
from typing import Any

VICE, ARGUMENTS = sys.argv[1], sys.argv[2:]
SESSION = "5e55105e-0000-4000-8000-000000000001"
HOME = Path(os.environ.get("MC_HOME", "."))


def session_file() -> Path:
    return HOME / "sessions" / f"{SESSION}.jsonl"


def save(*kinds: str) -> None:
    if VICE == "saves-nothing":
        return
    session_file().parent.mkdir(parents=True, exist_ok=True)
    with session_file().open("a") as file:
        for kind in kinds:
            file.write(json.dumps(record(kind)) + "\n")


def record(kind: str) -> dict[str, Any]:
    payloads = {
        "user_input": {"text": "Do it.", "origin": "user"},
        "assistant_output": {"text": "Done."},
        "turn_status": {"status": "failed"},
    }
    return {
        "event_id": f"{kind}-{time.time_ns()}",
        "event_type": kind,
        "timestamp": "2026-11-30T12:00:00Z",
        "session_id": SESSION,
        "cwd": str(Path.cwd()),
        "payload": payloads[kind],
    }


def forever() -> None:
    time.sleep(3600)


def ask_model(text: str) -> None:
    settings = json.loads((HOME / "settings.json").read_text())
    url = settings["providers"]["custom"]["scripted"]["base_url"] + "/chat/completions"
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=10) as answer:  # noqa: S310 - loopback only
        answer.read()


class LocalAgent:
    def __init__(self) -> None:
        self.sequence = 100 if VICE == "wrong-seq" else 0

    def send(self, **members: Any) -> None:
        self.sequence += -1 if VICE == "wrong-seq" else 1
        frame = {"protocol": "magi-code.local-agent", "version": 1, "instance_id": "i", "seq": self.sequence, **members}
        sys.stdout.write(json.dumps(frame) + "\n")
        sys.stdout.flush()

    def run(self) -> None:
        if VICE == "starts-nonsense":
            print("warning: could not find a terminal", flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            self.answer(request["id"], request["method"], request["params"])

    def answer(self, identity: str, method: str, params: dict[str, Any]) -> None:
        result: dict[str, Any] = {}
        match method:
            case "initialize":
                self.misbehave_at_start(identity)
            case "session.create":
                result = {"session_id": "../escape" if VICE == "escapes" else SESSION, "revision": "r"}
            case "session.open":
                if VICE == "keeps-lease":
                    self.send(type="response", id=identity, error={"code": "session_busy"})
                    return
                result = {"revision": "r"}
            case "history.page":
                result = {"next_cursor": None if params["cursor"] == "second" else "second", "entries": []}
            case "shutdown":
                if VICE == "stays":
                    self.send(type="response", id=identity, result={"state": "stopping"})
                    forever()
        if method == "turn.start":
            self.turn(identity, params)
            return
        self.send(type="response", id=identity, result=result)
        if method == "shutdown":
            sys.exit(0)

    def misbehave_at_start(self, identity: str) -> None:
        match VICE:
            case "silent":
                forever()
            case "refuses":
                self.send(type="response", id=identity, error={"code": "unsupported_capability"})
                forever()
            case "not-utf-8":
                sys.stdout.buffer.write(b'{"protocol": "\xff"}\n')
                sys.stdout.buffer.flush()
                forever()
            case "foreign":
                print('{"jsonrpc": "2.0", "id": 1}', flush=True)
                forever()
            case "nests-deeply":
                print("[" * 50_000, flush=True)
                forever()
            case "floods":
                while True:
                    sys.stdout.write("x" * 65536)

    def turn(self, identity: str, params: dict[str, Any]) -> None:
        if VICE == "dies":
            print("thread 'main' panicked", file=sys.stderr, flush=True)
            sys.exit(101)
        if VICE == "cuts-line":
            sys.stdout.write('{"protocol": "magi-code.lo')
            sys.stdout.flush()
            sys.exit(0)
        self.send(type="response", id=identity, result={"run_id": "run", "accepted": True})
        save("user_input")
        if VICE == "never-finishes":
            forever()
        if VICE == "slow":
            time.sleep(1.5)
        if VICE == "writes-outside":
            Path("..", "stray.txt").write_text("x")
        if VICE == "leaves-a-link":
            Path("link").symlink_to("/etc/hostname")
        if VICE == "asks-too-much":
            ask_model(params["prompt"])
            ask_model(params["prompt"])
        if VICE == "asks-strangely":
            ask_model("something that no scenario holds")
        if VICE == "leaves-child":
            subprocess.Popen(["/bin/sleep", "3600"], start_new_session=True)
        if VICE == "asks-permission":
            self.send(type="event", event="approval.requested", data={"run_id": "run", "approval_id": "a"})
            if not json.loads(sys.stdin.readline())["params"]["allow"]:
                sys.exit(1)
        save("turn_status" if VICE == "turn-fails" else "assistant_output")
        outcome = "failed" if VICE == "turn-fails" else "completed"
        self.send(type="event", event="run.finished", data={"run_id": "run", "outcome": outcome})


class Replay:
    """Answers with what was captured: the frames after a request, the output after a key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def frames(self, name: str) -> None:
        lines = [json.loads(line) for line in (self.folder / name).read_text().splitlines()]
        waiting = [json.loads(line["line"])["id"] for line in lines if line["direction"] == "to_product"]
        parts: list[list[str]] = []
        for line in lines:
            if line["direction"] == "to_product":
                parts.append([])
            elif line["direction"] == "from_product":
                parts[-1].append(line["line"])
        for asked, part in zip(waiting, parts, strict=True):
            request = json.loads(sys.stdin.readline())
            if request["method"] == "turn.start":
                self.saved()
            for frame in part:
                sys.stdout.write(frame.replace(json.dumps(asked), json.dumps(request["id"])) + "\n")
            sys.stdout.flush()

    def saved(self) -> None:
        content = (self.folder / "session.jsonl").read_bytes()
        name = json.loads(content.splitlines()[0])["session_id"]
        (HOME / "sessions").mkdir(parents=True, exist_ok=True)
        (HOME / "sessions" / f"{name}.jsonl").write_bytes(content)

    def screens(self, name: str) -> None:
        tty.setraw(0)
        pressed = ""
        for _, kind, text in map(json.loads, (self.folder / name).read_text().splitlines()[1:]):
            if kind == "o":
                sys.stdout.write(text)
                sys.stdout.flush()
            elif kind == "i":
                while not pressed.startswith(text):
                    pressed += os.read(0, 1024).decode()
                    if "\x04" in pressed:
                        return
                pressed = pressed[len(text) :]


class MissionControl:
    def __init__(self) -> None:
        self.columns, self.rows = os.get_terminal_size()

    def status(self, text: str) -> None:
        frame = f"┌ {text} ".ljust(self.columns - 1, "─") + "┐"
        drawn = f"\x1b[?2026h\x1b[1;1H Session: fake\x1b[{self.rows - 2};1H{frame}\x1b[?2026l"
        sys.stdout.write(drawn)
        sys.stdout.flush()

    def run(self) -> None:
        tty.setraw(0)
        seen = HOME / "resumed-once"
        if VICE == "mc-busy-once" and "--resume" in ARGUMENTS and not seen.exists():
            seen.touch()
            print("Error: cannot resume session: another magi-code process is using it", flush=True)
            sys.exit(1)
        if VICE == "mc-dies":
            print("Error: no session", flush=True)
            sys.exit(1)
        if VICE == "mc-floods":
            while True:
                sys.stdout.write("flood " * 10_000)
        sys.stdout.write("\x1b[?1049h")
        if VICE == "mc-not-utf-8":
            sys.stdout.flush()
            sys.stdout.buffer.write(b"\xc3\x28")
            sys.stdout.buffer.flush()
            forever()
        self.status("loading" if VICE == "mc-never-ready" else "Mission Control ready")
        while True:
            keys = os.read(0, 1024)
            if b"\x04" in keys and VICE != "mc-stays":
                sys.exit(0)
            if b"\r" in keys:
                self.status("running prompt… [Alt-C] to cancel")
                if VICE == "mc-never-finishes":
                    continue
                if VICE == "mc-dies-running":
                    sys.exit(3)
                time.sleep(0.1)
                if "--no-session" not in ARGUMENTS:
                    save("user_input", "assistant_output")
                if VICE == "mc-two-sessions":
                    (HOME / "sessions" / "second.jsonl").touch()
                self.status("run complete")


if ARGUMENTS == ["--version"]:
    print("something else 1" if VICE == "no-version" else "magi-code 0.0.1")
elif VICE.startswith("replays="):
    replay = Replay(Path(VICE.partition("=")[2]))
    if ARGUMENTS[:1] != ["serve"]:
        replay.screens("mission-control.reopen.cast")
    elif (HOME / "sessions").exists():
        replay.frames("local-agent.reopen.jsonl")
    else:
        replay.frames("local-agent.live.jsonl")
elif ARGUMENTS[:1] == ["serve"]:
    LocalAgent().run()
else:
    MissionControl().run()
