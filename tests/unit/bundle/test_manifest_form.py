"""A manifest is one canonical text: another spelling, schema or member is refused although its checksum fits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.bundle import read_bundle
from harness.model.errors import EvidenceError
from harness.model.stimulus import canonical
from tests.support import bundles

Plain = dict[str, Any]


def refusal(folder: Path) -> EvidenceError:
    with pytest.raises(EvidenceError) as caught:
        read_bundle(folder)
    return caught.value


@pytest.mark.parametrize(
    ("respell", "reason"),
    [
        (lambda _: b"", "is not strict JSON"),
        (lambda _: b"no JSON", "is not strict JSON"),
        (lambda text: b"\xef\xbb\xbf" + text, "is not strict JSON"),
        (lambda text: text.decode().encode("utf-16"), "is not strict JSON"),
        (lambda text: text.replace(b"/srv/run", b"/srv/\xff\xfe"), "is not strict JSON"),
        (lambda text: text.replace(b"/srv/run", b"/srv/\\ud800"), "is not strict JSON"),
        (lambda text: text.replace(b'"schema":1', b'"schema":NaN'), "is not strict JSON"),
        (lambda text: text.replace(b'"schema":1', b'"schema":1,"schema":1'), "Detected duplicate key"),
        (lambda text: text.replace(b'"version":"0.1.0"', b'"version":"0.1.0","version":"9"'), "Detected duplicate key"),
        (lambda text: text + text, "is not strict JSON"),
        (lambda text: text[:-3], "is not strict JSON"),
        (lambda _: b"[" * 100_000, "is not strict JSON"),
        (lambda _: b"[]\n", "Expected `object`, got `array`"),
        (lambda _: b"null\n", "Expected `object`, got `null`"),
        (lambda text: text.rstrip(b"\n"), "is not in canonical form"),
        (lambda text: text + b"\n", "is not in canonical form"),
        (lambda text: text.replace(b"\n", b"\r\n"), "is not in canonical form"),
        (lambda text: b" " + text, "is not in canonical form"),
        (lambda text: text.replace(b'"schema":1', b'"schema": 1'), "is not in canonical form"),
        (lambda text: text.replace(b"/srv/run", b"\\/srv\\/run"), "is not in canonical form"),
        (lambda text: text.replace(b"/srv/run", b"/srv/r\\u0075n"), "is not in canonical form"),
        (msgspec.json.format, "is not in canonical form"),
    ],
)
def test_other_spelling_of_the_manifest_is_refused(
    tmp_path: Path, content: dict[str, bytes], respell: Callable[[bytes], bytes], reason: str
) -> None:
    text = respell(content["manifest.json"])
    assert text != content["manifest.json"]
    folder = bundles.lay(tmp_path / "laid", bundles.seal(content, text))
    error = refusal(folder)
    assert reason in error.message
    assert error.where == f"{folder}/manifest.json"


def _reverse(key: str) -> Callable[[Plain], None]:
    def change(plain: Plain) -> None:
        plain[key] = dict(reversed(plain[key].items()))

    return change


def _reverse_all(plain: Plain) -> None:
    items = list(plain.items())
    plain.clear()
    plain.update(reversed(items))


@pytest.mark.parametrize("change", [_reverse("files"), _reverse("recorder"), _reverse_all])
def test_members_in_another_order_are_refused(
    tmp_path: Path, content: dict[str, bytes], change: Callable[[Plain], None]
) -> None:
    folder = bundles.lay(tmp_path / "laid", bundles.resealed(content, change))
    assert refusal(folder).reasons == ("the manifest is not in canonical form",)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda plain: plain.update(schema=2), "is of schema 2; this harness reads schema 1"),
        (lambda plain: plain.update(schema=0), "is of schema 0; this harness reads schema 1"),
        (lambda plain: plain.update(schema="1"), "Expected `int`, got `str` - at `$.schema`"),
        (lambda plain: plain.update(schema=True), "Expected `int`, got `bool` - at `$.schema`"),
        (lambda plain: plain.update(schema=None), "Expected `int`, got `null` - at `$.schema`"),
        (lambda plain: plain.pop("schema"), "missing required field `schema`"),
        (lambda plain: plain.pop("recorded_at"), "missing required field `recorded_at`"),
        (lambda plain: plain.update(later=1), "contains unknown field `later`"),
        (lambda plain: plain["recorder"].update(host="here"), "unknown field `host` - at `$.recorder`"),
        (lambda plain: plain["captures"][0].update(x=1), "unknown field `x` - at `$.captures[0]`"),
        (lambda plain: plain["files"]["stimulus.json"].update(mode=7), "unknown field `mode` - at `$.files[...]`"),
        (lambda plain: plain["files"]["stimulus.json"].update(size=211.0), "Expected `int`, got `float`"),
        (lambda plain: plain["captures"][0].update(column="screen"), "Invalid enum value 'screen'"),
    ],
)
def test_manifest_of_another_shape_is_refused_and_the_member_named(
    tmp_path: Path, content: dict[str, bytes], change: Callable[[Plain], object], reason: str
) -> None:
    folder = bundles.lay(tmp_path / "laid", bundles.resealed(content, change))
    error = refusal(folder)
    assert reason in error.message
    assert error.where == f"{folder}/manifest.json"


@pytest.mark.parametrize("schema", [b"9" * 4_000, b"9" * 100_000, b'"%s"' % (b"9" * 100_000)])
def test_enormous_schema_is_refused_in_few_words(tmp_path: Path, content: dict[str, bytes], schema: bytes) -> None:
    text = content["manifest.json"].replace(b'"schema":1', b'"schema":%s' % schema)
    assert len(str(refusal(bundles.lay(tmp_path / "laid", bundles.seal(content, text))))) < 500


def test_sizes_beyond_any_integer_type_are_refused(tmp_path: Path, content: dict[str, bytes]) -> None:
    stored = b'"stored_size":%d' % len(content["workspace.before.json"])
    text = content["manifest.json"].replace(stored, b'"stored_size":1' + b"0" * 40)
    assert refusal(bundles.lay(tmp_path / "laid", bundles.seal(content, text))).reasons == (
        "workspace.before.json is larger than 67108864 bytes",
        "the members are larger than 268435456 bytes together",
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(session="other.jsonl.gz"),
        lambda plain: plain.update(children=["other.jsonl.gz"]),
        lambda plain: plain["captures"][0].update(file="other.jsonl.gz"),
    ],
    ids=["session", "children", "captures"],
)
def test_reference_to_a_member_that_is_not_listed_is_refused(
    tmp_path: Path, content: dict[str, bytes], change: Callable[[Plain], object]
) -> None:
    folder = bundles.lay(tmp_path / "laid", bundles.resealed(content, change))
    assert refusal(folder).reasons == ("the manifest names 'other.jsonl.gz', which it does not list",)


def test_bundle_without_a_stimulus_is_refused(tmp_path: Path, content: dict[str, bytes]) -> None:
    sealed = bundles.resealed(content, lambda plain: plain["files"].pop("stimulus.json"))
    del sealed["stimulus.json"]
    assert refusal(bundles.lay(tmp_path / "laid", sealed)).reasons == (
        "the manifest names 'stimulus.json', which it does not list",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "EOF while parsing"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"schema":1,"schema":1}', "Detected duplicate key"),
        (b'{"lanes":[]}', "Expected `object`, got `array` - at `$.lanes`"),
        (b'{"settings":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}", "recursion limit exceeded"),
        (b'{"files":{"a":"\xff"}}', "invalid unicode code point"),
    ],
)
def test_stimulus_that_is_none_is_refused_though_its_digest_fits(
    tmp_path: Path, content: dict[str, bytes], text: bytes, reason: str
) -> None:
    digest = hashlib.sha256(text).hexdigest()
    entry = {"size": len(text), "sha256": digest, "stored_size": len(text), "stored_sha256": digest}

    def change(plain: Plain) -> None:
        plain["files"]["stimulus.json"] = entry
        plain["stimulus_sha256"] = digest

    sealed = {**bundles.resealed(content, change), "stimulus.json": text}
    error = refusal(bundles.lay(tmp_path / "laid", sealed))
    assert error.message.startswith("stimulus.json is not a stimulus: ")
    assert reason in error.message


def test_manifest_text_is_what_the_checksum_and_every_authorization_name(bundle: Path) -> None:
    read = read_bundle(bundle)
    text = (bundle / "manifest.json").read_bytes()
    assert read.manifest_sha256 == hashlib.sha256(text).hexdigest()
    assert (bundle / "manifest.json.sha256").read_text() == f"{read.manifest_sha256}  manifest.json\n"
    assert canonical(read.manifest) + b"\n" == text
