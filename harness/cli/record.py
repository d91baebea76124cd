"""`harness record` and `harness product`: original runs of the real product, and the product itself."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.cli import output, places
from harness.model.errors import HarnessError, ProductError, UsageError

if TYPE_CHECKING:
    from rich.progress import Progress

    from harness.recording import Task
    from harness.scenario.compile import Scenario

DEFAULT_ROOT = Path("/tmp/acceptance")  # noqa: S108 # neutral on purpose: its text appears in evidence


def _select(scenarios: Sequence[Scenario], names: Sequence[str], release: str) -> list[Scenario]:
    """Scenarios that are recorded on `release`: those whose slug or id holds one of `names`, or without names all but
    those that are recorded on request."""
    fitting = [item for item in scenarios if item.recorded_on(release)]
    if not names:
        return [item for item in fitting if not item.on_request]
    chosen = [item for item in fitting if any(name in item.slug or name in item.id for name in names)]
    unknown = [name for name in names if not any(name in item.slug or name in item.id for item in fitting)]
    if unknown:
        raise UsageError(
            f"no scenario of release {release} is named {', '.join(unknown)}",
            hint=f"`harness record --product {release} --list` shows them",
        )
    return chosen


def product_command(
    version: Annotated[str, typer.Argument(help="Release, such as 0.104.0, or the path of a binary.")],
    json_: Annotated[bool, typer.Option("--json", help="One JSON object: version, sha256, path.")] = False,
) -> int:
    """Find a product, building a release from its crate into the user's cache when it is not there.

    Example: harness product 0.104.0
    """
    from harness.record import products  # noqa: PLC0415

    path = _find_or_build(version)
    identity = products.identify(path)
    if json_:
        output.emit({"version": identity.version, "sha256": identity.sha256, "path": str(path)})
        return 0
    output.say(f"magi-code {identity.version} sha256 {identity.sha256}")
    output.say(str(path))
    output.note(f"Next: harness record --product {version} --list   the runs that its scenarios give")
    return 0


def _find_or_build(product: str) -> Path:
    """The program of a path or release; a release that is not in the user's cache is built into it."""
    from harness.record import products  # noqa: PLC0415

    if products.is_version(product) and not products.available(product):
        return products.build(product, _build_progress())
    return products.locate(product)


def _build_progress() -> Callable[[str], None]:
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True)
    lock = threading.Lock()

    def show(line: str) -> None:
        if output.loudness() is output.Loudness.QUIET:
            return
        with lock:
            console.print(output.plain(line), end="\r" if console.is_terminal else "\n")

    return show


def _record_all(tasks: Sequence[Task], jobs: int) -> tuple[dict[str, float], dict[str, str]]:
    """Record every task: the seconds of each observation that left a bundle, and why others left none."""
    from harness.recording import record_task  # noqa: PLC0415

    done: dict[str, float] = {}
    failures: dict[str, str] = {}
    workers = min(jobs, max(len(tasks), 1))
    with output.progress("recording", len(tasks)) as bar, ThreadPoolExecutor(max_workers=workers) as pool:
        running = {pool.submit(record_task, task): task for task in tasks}
        try:
            for future in as_completed(running):
                observation = running[future].observation
                try:
                    done[observation] = future.result()
                    _tell(f"recorded {observation} in {done[observation]:.1f} s", bar)
                except (HarnessError, OSError) as error:
                    failures[observation] = str(error)
                    _tell(f"no bundle of {observation}", bar)
                if bar is not None:
                    bar.advance(bar.task_ids[0])
        except KeyboardInterrupt:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return done, failures


def _tell(line: str, bar: Progress | None) -> None:
    """A line of progress: on standard error, above the bar when there is one."""
    if bar is not None:
        bar.console.print(Text(output.plain(line)))
    elif output.loudness() > output.Loudness.QUIET:
        print(output.plain(line), file=sys.stderr, flush=True)


def record_command(
    product: Annotated[str, typer.Option(help="Path of a binary, or a release that is built if need be.")],
    scenarios: Annotated[
        list[str] | None, typer.Argument(help="Names or parts of names. Default: all but those tagged on-request.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Evidence folder. Default: evidence/")] = None,
    features: Annotated[Path | None, typer.Option(help="Folder of scenarios. Default: the bundled features.")] = None,
    driver: Annotated[str, typer.Option(help="Only this driver: local-agent or mission-control.")] = "",
    jobs: Annotated[int, typer.Option(min=1, max=16, help="Runs at the same time.")] = 3,
    root: Annotated[Path, typer.Option(help="Neutral folder in which the runs happen.")] = DEFAULT_ROOT,
    replace: Annotated[bool, typer.Option(help="Replace bundles that are already there.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List what would be recorded, and leave.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object a run.")] = False,
) -> int:
    """Run scenarios on the real product, on both surfaces, and write one bundle a run.

    Exit code 3 when the product misbehaved in a way that left no bundle.

    Example: harness record --product 0.104.0 --replace mixed
    """
    from harness.acceptance import load_scenarios  # noqa: PLC0415
    from harness.record import products  # noqa: PLC0415
    from harness.recording import Task, in_order  # noqa: PLC0415
    from harness.scenario.compile import DRIVERS  # noqa: PLC0415

    if driver and driver not in DRIVERS:
        raise UsageError(f"{driver!r} is no driver", hint=f"use {' or '.join(DRIVERS)}")
    path = _find_or_build(product)
    identity = products.identify(path)
    chosen = _select(load_scenarios(features or places.default_folder("features")), scenarios or [], identity.version)
    folder = out or places.default_folder("evidence")
    tasks = [
        Task(scenario=scenario, driver=name, product=path, release=identity.version, root=root, out=folder)
        for scenario in chosen
        for name in scenario.drivers
        if not driver or name == driver
    ]
    tasks = in_order(tasks)
    if list_:
        _list(tasks, as_json=json_)
        return 0
    if not replace:
        taken = [task.observation for task in tasks if task.folder.exists()]
        if taken:
            raise UsageError(
                f"{len(taken)} bundles are already there, the first is {taken[0]}",
                where=str(folder),
                hint="use --replace to record them anew, or --out for another folder",
            )
    for version in sorted({task.recorder_version for task in tasks if task.recorder_version}):
        _find_or_build(version)
    done, failures = _record_all(tasks, jobs)
    _print_recorded(tasks, done, failures, as_json=json_)
    return ProductError.exit_code if failures else 0


def _list(tasks: Sequence[Task], *, as_json: bool) -> None:
    for task in tasks:
        if as_json:
            output.emit({"observation": task.observation, "scenario": task.scenario.id, "driver": task.driver})
        else:
            output.say(f"{task.observation}  ({task.scenario.id})")


def _print_recorded(
    tasks: Sequence[Task], done: Mapping[str, float], failures: Mapping[str, str], *, as_json: bool
) -> None:
    for task in tasks:
        name, seconds = task.observation, done.get(task.observation)
        if as_json:
            output.emit(
                {
                    "observation": name,
                    "scenario": task.scenario.id,
                    "driver": task.driver,
                    "bundle": None if seconds is None else str(task.folder),
                    "seconds": seconds,
                    "error": failures.get(name),
                }
            )
        elif name in failures:
            output.say(f"no bundle: {name}: {failures[name]}")
    if as_json or not tasks:
        return
    output.say(f"{len(done)} of {len(tasks)} runs recorded into {tasks[0].folder.parent}")
    first = next((task for task in tasks if task.observation in done), None)
    if first is not None:
        output.note(f"Next: harness compare {places.shown(first.folder)}   every fact of one run side by side")
