"""One scenario, one driver, one real run, one bundle: what `harness record` does for each of its tasks."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness import __version__
from harness.bundle import write_bundle
from harness.bundle.prompt_text import Sent
from harness.bundle.secrets import machine_names
from harness.model.errors import EvidenceError
from harness.model.manifest import MANIFEST_SCHEMA, Manifest, Recorder
from harness.publishable import not_publishable
from harness.record import products
from harness.record.recorder import record
from harness.scenario.compile import Scenario
from harness.spec.classes import served

SLOW = "slow"
"""The tag of scenarios whose runs take minutes."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One run to record. `product` is the binary under test, `out` the evidence folder."""

    scenario: Scenario
    driver: str
    product: Path
    release: str
    root: Path
    out: Path

    @property
    def observation(self) -> str:
        return self.scenario.observation(self.driver)

    @property
    def folder(self) -> Path:
        return self.out / self.release / self.observation

    @property
    def recorder_version(self) -> str:
        """The older release that drives a legacy run, or "" when the product under test does."""
        return self.scenario.stimulus.recorded_by


def in_order(tasks: Iterable[Task]) -> list[Task]:
    """The order in which runs are started: those that take minutes first, so that none is left alone at the end."""
    return sorted(tasks, key=lambda task: SLOW not in task.scenario.tags)


def record_task(task: Task) -> float:
    """Record one run and write its bundle; returns the seconds it took.

    Raises ProductError when the product misbehaved so that nothing can be kept; then no bundle is written.
    """
    started = time.monotonic()
    sent = Sent()
    run = record(
        task.scenario.stimulus,
        observation=task.observation,
        scenario=task.scenario.id,
        classes=served(task.scenario.tags).classes,
        release=task.release,
        driver=task.driver,
        product=products.locate(task.recorder_version) if task.recorder_version else task.product,
        reopener=task.product,
        root=task.root,
        watch=sent.take,
    )
    manifest = Manifest(
        schema=MANIFEST_SCHEMA,
        observation=run.observation,
        scenario=run.scenario,
        classes=run.classes,
        release=run.release,
        driver=run.driver,
        stimulus_sha256=run.stimulus_sha256,
        products=run.products,
        recorder=Recorder(name="card-acceptance-harness", version=__version__),
        recorded_at=run.recorded_at,
        workspace=run.workspace,
        session=run.session,
        children=run.children,
        captures=run.captures,
        files={},
    )
    if found := not_publishable(run.members.items(), names=machine_names(), sent=sent.digests):
        raise EvidenceError(f"the recording holds what must not be published: {found[0]}", where=task.observation)
    write_bundle(task.folder, manifest, run.members, replace=True)
    return time.monotonic() - started
