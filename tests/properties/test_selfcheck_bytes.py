"""Any bytes in place of the result of a selfcheck: refused as such, or a result whose numbers add up; nothing else."""

from __future__ import annotations

import contextlib

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.errors import EvidenceError
from harness.selfcheck_file import decode, encode
from tests.support import selfchecks

FILE = encode(selfchecks.with_survivors(1))
_SETTINGS = settings(deadline=None, max_examples=200)


def held(content: bytes) -> None:
    with contextlib.suppress(EvidenceError):
        result = decode(content, where="selfcheck.json")
        assert result.mutants == result.caught + result.equivalent + len(result.survivors)
        assert result.mutants == sum(row.mutants for row in result.classes)
        assert min((row.survivors for row in result.classes), default=0) >= 0


@_SETTINGS
@given(st.binary(max_size=400))
def test_any_bytes_are_answered(content: bytes) -> None:
    held(content)


@_SETTINGS
@given(st.integers(0, len(FILE) - 1), st.binary(max_size=3), st.integers(0, 4))
def test_a_result_with_changed_bytes_is_answered(at: int, new: bytes, gone: int) -> None:
    held(FILE[:at] + new + FILE[at + gone :])


@_SETTINGS
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-5, 9) | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["mutants", "caught", "equivalent", "survivors", "classes", "measured", "attacked", "schema"]),
)
def test_a_result_with_another_member_is_answered(value: object, member: str) -> None:
    plain = msgspec.json.decode(FILE)
    plain[member] = value
    held(msgspec.json.encode(plain))
