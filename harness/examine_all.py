"""Many bundles, each verified and looked at by itself, on as many processes as help: what each shows, and what of it
a report cites."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

from harness.bundle import Bundle
from harness.collector import uncollected
from harness.compare import Compared
from harness.evidence_folder import read_placed
from harness.examine import Layout, Stages, examine, turns_before
from harness.model.errors import HarnessError
from harness.model.facts import Column, ColumnFacts, Place
from harness.model.manifest import Capture, Manifest
from harness.model.verdict import Agreement, Damage
from harness.observe import local_agent, moments
from harness.observe.mission_control import Sight
from harness.observe.mission_control.cards import Card
from harness.observe.mission_control.cast import Shown
from harness.observe.mission_control.detail import Page
from harness.observe.mission_control.panes import Transcript
from harness.proofs import Cited, Screens, lines_at, live_timeline
from harness.scenario.compile import Scenario
from harness.workers import workers

Scenarios = Mapping[str, Scenario]
"""By their id."""


class Looked(NamedTuple):
    """A verified bundle: how its columns compare, or why a capture or session in it cannot be read at all."""

    manifest: Manifest
    manifest_sha256: str
    compared: Compared | str
    cited: Cited


class _Keeping(Sight):
    def __init__(self, file: str, screens: Screens) -> None:
        self._file = file
        self._screens = screens

    def cards(self, shown: Shown) -> tuple[Transcript, list[Card]] | None:
        self._screens[self._file, shown.marker] = shown.screen
        return super().cards(shown)

    def page(self, shown: Shown) -> Page | None:
        self._screens[self._file, shown.marker] = shown.screen
        return super().page(shown)


class _Stages(Stages):
    """Stages that keep what is needed afterwards and would have to be read again: members, screens that were looked
    at, and live runs in time."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.screens: Screens = {}
        self.timelines: list[tuple[moments.TimelineEvent, ...]] = []

    def read(self, bundle: Bundle, name: str) -> bytes:
        if name not in self.contents:
            self.contents[name] = bundle.read(name)
        return self.contents[name]

    def sight(self, file: str) -> Sight:
        return _Keeping(file, self.screens)

    def observe(self, bundle: Bundle, capture: Capture, part: int, layout: Layout) -> ColumnFacts:
        if capture.column is not Column.LOCAL_AGENT_LIVE:
            return super().observe(bundle, capture, part, layout)
        before = turns_before(bundle.stimulus, part)
        live = local_agent.Live(self.read(bundle, capture.file), turns_before=before, timed=True)
        self.timelines.append(live.timeline())
        return live.facts(file=capture.file, complete=capture.complete)


def examine_bundle(folder: Path, scenarios: Scenarios) -> Looked | Damage:
    """Verify one bundle and compare its columns; why it is none when it does not verify."""
    bundle = read_placed(folder)
    if isinstance(bundle, Damage):
        return bundle
    stages = _Stages()
    try:
        compared = examine(bundle, scenarios.get(bundle.manifest.scenario), stages).compared
    except HarnessError as error:
        return Looked(bundle.manifest, bundle.manifest_sha256, str(error), Cited())
    return Looked(bundle.manifest, bundle.manifest_sha256, compared, _cited(bundle, stages, compared))


def _cited(bundle: Bundle, stages: _Stages, compared: Compared) -> Cited:
    """Screens are large: those where something is wrong are kept, which a report shows first."""
    cells = [cell for row in compared.rows for cell in row.cells.values()]
    wrong = {finding.place for finding in compared.findings}
    wrong |= {fact.place for cell in cells if cell.agreement is Agreement.DISAGREE for fact in cell.readings}
    shown = {(place.file, place.marker) for place in wrong if place is not None}
    return Cited(
        timeline=live_timeline(bundle, stages.timelines),
        screens={key: screen for key, screen in stages.screens.items() if key in shown},
        lines=_lines(bundle, stages, wrong.union(fact.place for cell in cells for fact in cell.readings)),
    )


def _lines(bundle: Bundle, stages: _Stages, places: set[Place | None]) -> dict[tuple[str, int], str]:
    wanted: dict[str, set[int]] = {}
    for place in places:
        if place is not None and place.line is not None and place.file in bundle.manifest.files:
            wanted.setdefault(place.file, set()).add(place.line)
    return {
        (file, number): text
        for file, numbers in wanted.items()
        for number, text in lines_at(stages.read(bundle, file), file, numbers).items()
    }


_scenarios: dict[str, Scenario] = {}
"""In a process of the pool, those that it was given; they are the same for all its work."""


def _begin(scenarios: Scenarios) -> None:
    _scenarios.update(scenarios)


def _in_worker(folder: Path) -> Looked | Damage:
    with uncollected():
        return examine_bundle(folder, _scenarios)


def examine_all(folders: Sequence[Path], scenarios: Scenarios, *, jobs: int = 0) -> Iterator[Looked | Damage]:
    """Results in the order of `folders`, on `jobs` processes (0: one a core). How the work was cut does not show.

    Where no further process can be had (no shared memory, no way to start one), this one does the rest.
    """
    done = 0
    with workers(jobs, len(folders), _begin, (scenarios,)) as pool:
        if pool is not None:
            with contextlib.suppress(OSError, BrokenProcessPool):
                running = {folder: pool.submit(_in_worker, folder) for folder in _largest_first(folders)}
                for folder in folders:
                    yield running[folder].result()
                    done += 1
    for folder in folders[done:]:
        yield examine_bundle(folder, scenarios)


def _largest_first(folders: Sequence[Path]) -> list[Path]:
    """So that no process begins with a large one when the others have nothing left to do."""
    return sorted(folders, key=lambda folder: (-_size(folder), folder))


def _size(folder: Path) -> int:
    """Bytes of the files that lie in it, as far as they can be seen; nothing but the order of work depends on it."""
    with contextlib.suppress(OSError):
        return sum(path.lstat().st_size for path in folder.iterdir())
    return 0
