"""Whatever stands in others' files: a folder becomes a bundle that verifies, or is refused and leaves nothing."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.bundle import read_bundle
from harness.examine import examine
from harness.importing import Outcome, Provenance, import_captures, product
from harness.model.errors import DecodeError, EvidenceError
from tests.support.foreign import NAMES, files_of, tree

SAMPLE = files_of("killed-script")
OUT = "evidence"


def imported(files: dict[str, bytes], folder: Path) -> Outcome:
    for name, content in files.items():
        path = folder / "run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    provenance = Provenance(product=product("0.104.0"), driver="local-agent")
    return import_captures(folder / "run", provenance, out=folder / OUT)


def held(files: dict[str, bytes]) -> None:
    """All or nothing, and every reason why nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outcome = imported(files, folder)
        if outcome.refused:
            assert outcome.imported == ()
            assert outcome.exit_code in (2, 4)
            assert all(item.reason for item in outcome.refused)
            assert tree(folder / OUT) == {}
            return
        (made,) = outcome.imported
        bundle = read_bundle(Path(made.bundle))
        assert {name: bundle.read(f"{name}.gz") for name in files} == files
        with contextlib.suppress(DecodeError, EvidenceError):
            examine(bundle, None)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    name=st.sampled_from(NAMES),
    start=st.floats(0, 1),
    taken=st.integers(0, 400),
    put=st.binary(max_size=40) | st.sampled_from([b"\n", b"\xff", b'"', b"{", b"null", b"\x00", b"1e999"]),
)
def test_a_wound_anywhere(name: str, start: float, taken: int, put: bytes) -> None:
    content = SAMPLE[name]
    at = int(start * len(content))

    held({**SAMPLE, name: content[:at] + put + content[at + taken :]})


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files=st.dictionaries(st.sampled_from(NAMES), st.binary(max_size=300) | st.text(max_size=99).map(str.encode)))
def test_files_of_anything(files: dict[str, bytes]) -> None:
    outcome_of = {**files, "session.jsonl": files.get("session.jsonl", b"\n")}

    held(outcome_of)
