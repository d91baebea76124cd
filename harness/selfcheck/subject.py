"""One bundle, examined once as it is and then again and again with one thing changed, at the cost of what that changes.

A variant is the bundle as if it had been recorded and sealed so: what the manifest says of sizes and digests is not
looked at, since every change of a byte would be noticed there (mutants of the class ``integrity`` are about that).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.bundle import Bundle
from harness.examine import Examined, Layout, Stages, examine
from harness.model.facts import Column, ColumnFacts
from harness.model.manifest import Capture
from harness.observe.mission_control.cast import Shown
from harness.observe.mission_control.column import observe_screens
from harness.project import Projection
from harness.scenario.compile import Scenario
from harness.selfcheck.screens import Screens, Seen


class Variant(Bundle, frozen=True, kw_only=True):
    """A bundle whose members are given unpacked."""

    raw: dict[str, bytes]

    def read(self, name: str) -> bytes:
        return self.raw[name]


class _Remembering(Stages):
    """Stages that read the very same bytes only once. `replaced` are the screens of one capture, drawn differently."""

    def __init__(self) -> None:
        self.replaced: tuple[str, tuple[Shown, ...]] = ("", ())
        self._projections: dict[tuple[str, ...], Projection] = {}
        self._observed: dict[tuple[object, ...], ColumnFacts] = {}
        self._screens: dict[str, Screens] = {}
        self._sight = Seen()
        self._original: dict[str, bytes] = {}

    def keep(self, original: Mapping[str, bytes]) -> None:
        """Remember what is read of these bytes; they live as long as this, so that their ids name them."""
        self._original = dict(original)

    def screens(self, bundle: Bundle, capture: Capture) -> Screens:
        """The screens of a capture as it was recorded."""
        if capture.file not in self._screens:
            made = self._screens[capture.file] = Screens(bundle.read(capture.file), complete=capture.complete)
            self._sight.keep(made.shown)
        return self._screens[capture.file]

    def project(self, bundle: Bundle) -> Projection:
        names = (bundle.manifest.session, *bundle.manifest.children)
        if any(bundle.read(name) is not self._original.get(name) for name in names):
            return super().project(bundle)
        if names not in self._projections:
            self._projections[names] = super().project(bundle)
        return self._projections[names]

    def observe(self, bundle: Bundle, capture: Capture, part: int, layout: Layout) -> ColumnFacts:
        file, shown = self.replaced
        if file == capture.file:
            return self._look(bundle, capture, layout, shown)
        if bundle.read(capture.file) is not self._original.get(capture.file):
            return super().observe(bundle, capture, part, layout)
        key = (capture.file, part, layout)
        if key not in self._observed:
            on_screen = capture.column.value.startswith("mission-control") and layout is not None
            self._observed[key] = (
                self._look(bundle, capture, layout, self.screens(bundle, capture).shown)
                if on_screen
                else super().observe(bundle, capture, part, layout)
            )
        return self._observed[key]

    def _look(self, bundle: Bundle, capture: Capture, layout: Layout, shown: tuple[Shown, ...]) -> ColumnFacts:
        screens = self.screens(bundle, capture)
        return observe_screens(
            shown,
            column=capture.column,
            file=capture.file,
            release=capture.product.version,
            layout=layout or (),
            complete=screens.complete,
            markers=screens.markers,
            sight=self._sight,
        )


class Subject:
    """A bundle under attack. `baseline` is what is judged of it as it is; `raw` its members, unpacked."""

    def __init__(self, bundle: Bundle, scenario: Scenario | None) -> None:
        self.bundle = bundle
        self.scenario = scenario
        self.manifest = bundle.manifest
        self.raw = {name: bundle.read(name) for name in bundle.manifest.files}
        self._stages = _Remembering()
        self._stages.keep(self.raw)
        self.baseline: Examined = self._examine(self.raw, bundle.manifest.children)

    @property
    def captures(self) -> dict[Column, Capture]:
        """The one capture of each column; columns that were captured in several parts are left out."""
        columns = [capture.column for capture in self.manifest.captures]
        return {capture.column: capture for capture in self.manifest.captures if columns.count(capture.column) == 1}

    def screens(self, capture: Capture) -> Screens:
        return self._stages.screens(self._variant(self.raw, self.manifest.children), capture)

    def with_members(self, changed: Mapping[str, bytes], lost: tuple[str, ...] = ()) -> Examined:
        """The bundle with some members changed and some child sessions lost. Raises HarnessError as `examine` does."""
        children = tuple(name for name in self.manifest.children if name not in lost)
        return self._examine(self.raw | dict(changed), children)

    def with_screens(self, capture: Capture, shown: tuple[Shown, ...]) -> Examined:
        """The bundle with the screens of one capture drawn differently."""
        self._stages.replaced = (capture.file, shown)
        try:
            return self._examine(self.raw, self.manifest.children)
        finally:
            self._stages.replaced = ("", ())

    def _variant(self, raw: dict[str, bytes], children: tuple[str, ...]) -> Variant:
        bundle = self.bundle
        manifest = bundle.manifest
        if children != manifest.children:
            manifest = msgspec.structs.replace(manifest, children=children)
        return Variant(
            folder=bundle.folder,
            manifest=manifest,
            manifest_sha256=bundle.manifest_sha256,
            stimulus=bundle.stimulus,
            stored=bundle.stored,
            raw=raw,
        )

    def _examine(self, raw: dict[str, bytes], children: tuple[str, ...]) -> Examined:
        return examine(self._variant(raw, children), self.scenario, self._stages)
