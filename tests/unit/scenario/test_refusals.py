"""What a scenario gets wrong is refused where it stands: taken silently, it would be recorded and judged as something
that its author did not mean."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from harness.model.errors import UsageError
from harness.scenario.compile import compile_feature
from tests.support.scenarios import BATCH, FILE, RUN, SCRIPT, feature, scenario


class Wrong(NamedTuple):
    """Steps, the text on the line that is to blame, and a part of the message."""

    steps: tuple[str, ...]
    line: str
    message: str


def _then(table: str, step: str = "the facts of the script are") -> str:
    return f"Then {step}\n{table}"


def _facts(label: str, value: str) -> Wrong:
    steps = (SCRIPT, RUN, _then(f"| label | value |\n| {label} | {value} |"))
    return Wrong(steps, "the facts of the script", label.split(" ", maxsplit=1)[0])


WRONG: dict[str, Wrong] = {
    # words
    "unknown step": Wrong((RUN, "Then the script is nice"), "the script is nice", "no step reads"),
    "step of another keyword": Wrong(("When the model runs a script",), "the model runs", "no step reads"),
    "step with further words": Wrong(('When the prompt "x" is run twice',), "is run twice", "no step reads"),
    "nameless file": Wrong(('Given the workspace file "" holds\n  """\n  """', RUN), 'file ""', "no step reads"),
    # blocks
    "script without code": Wrong(("Given the model runs a script", RUN), "runs a script", "takes a doc string"),
    "file without text": Wrong(('Given the workspace file "a" holds', RUN), "file", "takes a doc string"),
    "answer with a doc string": Wrong(
        ('Given the model answers "A"\n  """\n  B\n  """', RUN), "answers", "takes no doc string"
    ),
    "prompt with a table": Wrong(('When the prompt "Go." is run\n  | a |\n  | b |',), "Go.", "takes no table"),
    "calls without a table": Wrong(("Given the model calls", RUN), "the model calls", "takes a table"),
    "calls with a doc string": Wrong(
        ('Given the model calls\n  """\n  read\n  """', RUN), "the model calls", "takes no doc string"
    ),
    "facts without a table": Wrong((SCRIPT, RUN, "Then the facts of the script are"), "Then", "takes a table"),
    # tables of calls and tasks
    "call without arguments": Wrong(("Given the model calls\n  | tool |\n  | read |", RUN), "calls", "columns are"),
    "unknown column": Wrong(
        ("Given the model calls\n  | tool | arguments | when |\n  | read | {} | now |", RUN), "calls", "columns are"
    ),
    "column that stands twice": Wrong(
        ("Given the model calls\n  | tool | arguments | tool |\n  | read | {} | write |", RUN), "calls", "each once"
    ),
    "table without rows": Wrong(("Given the model calls\n  | tool | arguments |", RUN), "calls", "no rows"),
    "tasks without intents": Wrong(
        ("Given the model starts a batch of tasks at concurrency 1\n  | agent |\n  | a |", RUN), "batch", "columns are"
    ),
    "task with an empty intent": Wrong((BATCH.replace("TASK-A", "      "), RUN), "batch", "intent of its own"),
    "two tasks of one intent": Wrong((BATCH.replace("TASK-B", "TASK-A"), RUN), "batch", "intent of its own"),
    "task named as the main lane": Wrong((BATCH.replace("TASK-A", "main  "), RUN), "Go.", "session's agent"),
    # JSON
    "bad JSON": Wrong(("Given the model calls\n  | tool | arguments |\n  | read | {a: 1} |", RUN), "calls", "not JSON"),
    "arguments that are no object": Wrong(
        ("Given the model calls\n  | tool | arguments |\n  | read | [1] |", RUN), "calls", "JSON object"
    ),
    "member that stands twice": Wrong(('Given the setting "a" is {"b": 1, "b": 2}', RUN), "setting", "stands twice"),
    "setting that is no JSON": Wrong(('Given the setting "a" is yes', RUN), "setting", "not JSON"),
    "no number": Wrong(('Given the setting "a" is NaN', RUN), "setting", "no finite number"),
    "number without a value": Wrong(('Given the setting "a" is 1e999', RUN), "setting", "no finite number"),
    "half a character": Wrong(('Given the setting "a" is "\\ud800"', RUN), "setting", "not JSON"),
    "JSON without end": Wrong((f'Given the setting "a" is {"[" * 5_000}', RUN), "setting", "not JSON"),
    "setting below a value": Wrong(
        ('Given the setting "a" is 1', 'And the setting "a.b" is 2', RUN), '"a.b"', "cannot be read"
    ),
    # numbers and paths
    "terminal without rows": Wrong(("Given a terminal of 80 columns and 0 rows", RUN), "terminal", "at least 1"),
    "negative tokens": Wrong(
        ("Given each reply reports 1 prompt, -2 completion and 0 cached tokens", RUN), "reports", "at least 0"
    ),
    "batch without concurrency": Wrong((BATCH.replace("concurrency 2", "concurrency 0"), RUN), "batch", "at least 1"),
    "refusal that is none": Wrong(
        (BATCH, 'And for task "TASK-A" the provider refuses with status 200', RUN), "refuses", "between 400 and 599"
    ),
    "negative delay": Wrong(
        (BATCH, 'And for task "TASK-A" the model answers "A" after -1 ms', RUN), "after -1", "at least 0"
    ),
    "negative delay of calls": Wrong(
        (BATCH, 'And for task "TASK-A" the model calls after -1 ms\n  | tool | arguments |\n  | read | {} |', RUN),
        "after -1",
        "at least 0",
    ),
    "call of each task that is made no time": Wrong(
        (BATCH, "And for each task the model calls 0 times\n  | tool | arguments |\n  | read | {} |", RUN),
        "each task",
        "between 1 and 1000",
    ),
    "call of each task that is made too often": Wrong(
        (BATCH, "And for each task the model calls 1001 times\n  | tool | arguments |\n  | read | {} |", RUN),
        "each task",
        "between 1 and 1000",
    ),
    "each of no tasks": Wrong(('Given for each task the model answers "A"', RUN), "each task", "declared a task yet"),
    "negative delay of a kill": Wrong(
        (SCRIPT, 'When the prompt "Go." is run and the product is killed -1 ms after "a" exists'), "-1", "at least 0"
    ),
    "kill at no request": Wrong(
        (
            BATCH,
            'When the prompt "Go." is run and the product is killed once task "TASK-A" has asked the model 0 times',
        ),
        "Go.",
        "at least 1",
    ),
    "wait for no request": Wrong(
        (BATCH, 'When the prompt "Go." is run and cancelled once task "TASK-A" has asked the model 0 times'),
        "Go.",
        "at least 1",
    ),
    "file outside": Wrong(('Given the workspace file "../a" holds\n  """\n  """', RUN), "../a", "inside the workspace"),
    "absolute file": Wrong(('Given the workspace file "/a" holds\n  """\n  """', RUN), '"/a"', "inside the workspace"),
    "wait for a file outside": Wrong(
        ('When the prompt "Go." is run and cancelled once "/etc/waiting" exists',), "Go.", "inside the workspace"
    ),
    # what no run would reach
    "no prompt": Wrong((SCRIPT,), "Scenario:", "runs no prompt"),
    "no step": Wrong((), "Scenario:", "runs no prompt"),
    "reply to an undeclared task": Wrong(
        (BATCH, 'And for task "TASK-C" the model answers "C" after 0 ms', RUN), "TASK-C", "no batch declares"
    ),
    "wait for an undeclared task": Wrong(
        (BATCH, 'When the prompt "Go." is run and cancelled once task "TASK-C" has asked the model 1 times'),
        "TASK-C",
        "no batch declares",
    ),
    "reply after the last prompt": Wrong((RUN, 'Given the model answers "Late"'), "Late", "after the last prompt"),
    # which card
    "two scripts": Wrong(
        (SCRIPT, SCRIPT, RUN, _then("| label | value |\n| Warnings | 0 |")), "facts of the script", "2 code_mode calls"
    ),
    "no script": Wrong((RUN, _then("| label | value |\n| Warnings | 0 |")), "facts of the script", "0 code_mode calls"),
    "script before its prompt": Wrong(
        (SCRIPT, _then("| label | value |\n| Warnings | 0 |"), RUN), "facts of the script", "0 code_mode calls"
    ),
    "script of another turn": Wrong(
        (SCRIPT, RUN, _then("| label | value |\n| Warnings | 0 |", "the facts of the script of turn 2 are")),
        "turn 2",
        "0 code_mode calls",
    ),
    "script 0": Wrong(
        (SCRIPT, RUN, _then("| label | value |\n| Warnings | 0 |", "the facts of script 0 are")), "script 0", "at least"
    ),
    "script past the last": Wrong(
        (SCRIPT, RUN, _then("| label | value |\n| Warnings | 0 |", "the facts of script 2 are")), "script 2", "only 1"
    ),
    "task past the last": Wrong(
        (BATCH, RUN, _then("| label | value |\n| Task outcome | null |", "the facts of task 3 are")),
        "task 3",
        "declares 2 tasks",
    ),
    "task 0": Wrong(
        (BATCH, RUN, _then("| label | value |\n| Task outcome | null |", "the facts of task 0 are")),
        "task 0",
        "no task 0",
    ),
    "script of a task without one": Wrong(
        (BATCH, RUN, _then("| label | value |\n| Warnings | 0 |", "the facts of the script of task 1 are")),
        "of task 1",
        "runs 0 scripts",
    ),
    # expected facts
    "table without a header": Wrong((SCRIPT, RUN, _then("| Warnings | 0 |")), "facts of", "header row"),
    "table with a third column": Wrong(
        (SCRIPT, RUN, _then("| label | value | why |\n| Warnings | 0 | x |")), "facts of", "header row"
    ),
    "table without facts": Wrong((SCRIPT, RUN, _then("| label | value |")), "facts of", "states no fact"),
    "unknown label": _facts("Total call", "3"),
    "label of another card": _facts("Tasks total", "3"),
    "null for a constant": _facts("Rollback", "null"),
    "null for a script's outcome": _facts("Script outcome", "null"),
    "null for a preview row": _facts("Warning", "null"),
    "count with a leading zero": _facts("Total calls", "03"),
    "negative count": _facts("Total calls", "-3"),
    "count with a sign": _facts("Total calls", "+3"),
    "count in other digits": _facts("Total calls", "٣"),
    "boolean in capitals": _facts("Rollback", "False"),
    "outcome that is none": _facts("Script outcome", "done"),
    "task outcome of a script": _facts("Change count qualifier", "most"),
    "empty cell": _facts("Code Mode intent", ""),
    "unknown pattern": _facts("Total calls", "<number>"),
    "count pattern for a time": _facts("Elapsed milliseconds", "<count>"),
    "time pattern for a count": _facts("Total calls", "<milliseconds>"),
    "text pattern for a count": _facts("Total calls", "<text>"),
    "text pattern for a constant": _facts("Rollback", "<text>"),
    "bound for a text": _facts("Code Mode intent", "<at least 3>"),
    "bound with a leading zero": _facts("Total calls", "<at least 03>"),
    "single row that stands twice": Wrong(
        (SCRIPT, RUN, _then("| label | value |\n| Warnings | 0 |\n| Warnings | 0 |")), "facts of", "at most 1"
    ),
    "single row in two tables": Wrong(
        (
            SCRIPT,
            RUN,
            _then("| label | value |\n| Warnings | 0 |"),
            "And the facts of script 1 are\n| label | value |\n| Warnings | 0 |",
        ),
        "script 1",
        "at most 1",
    ),
    "more preview rows than a card shows": Wrong(
        (SCRIPT, RUN, _then("| label | value |\n" + "| Warning | <text> |\n" * 3)), "facts of", "at most 2"
    ),
    "unknown label that may vary": Wrong(
        (RUN, 'Then the fact "Elapsed" may vary between recordings'), "Elapsed", "no label of a card"
    ),
}


@pytest.mark.parametrize("fault", WRONG)
def test_is_refused_with_file_and_line(fault: str) -> None:
    wrong = WRONG[fault]
    text = feature(*wrong.steps)
    with pytest.raises(UsageError) as caught:
        tuple(compile_feature(text, name=FILE))
    file, line = caught.value.where.rsplit(":", 1)
    assert file == FILE
    assert wrong.line in text.splitlines()[int(line) - 1]
    assert wrong.message in caught.value.message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", FILE),
        ("Feature: nothing to run", FILE),
        ("Feature: F\n  Background:\n    Given a session that is not saved\n", FILE),
        ("Scenario: no feature", f"{FILE}:1"),
        ("\ufeffFeature: F", f"{FILE}:1"),
        ("# language: xx\nFeature: F", f"{FILE}:1"),
        ("Feature: F\n  Scenario: S\n    When a\n      | a |\n      | b | c |\n", f"{FILE}:5"),
        ('Feature: F\n  Scenario: S\n    Given a\n      """\n      never closed\n', f"{FILE}:6"),
    ],
    ids=["empty", "no scenario", "only a background", "no feature", "mark", "language", "ragged table", "open string"],
)
def test_a_file_that_holds_no_scenario_is_refused(text: str, where: str) -> None:
    with pytest.raises(UsageError) as caught:
        tuple(compile_feature(text, name=FILE))
    assert caught.value.where == where


def test_an_outline_without_examples_is_not_skipped() -> None:
    text = feature(RUN) + '  Scenario Outline: S <n>\n    When the prompt "<n>" is run\n'
    with pytest.raises(UsageError, match="no examples") as caught:
        tuple(compile_feature(text, name=FILE))
    assert caught.value.where == f"{FILE}:{text.splitlines().index('  Scenario Outline: S <n>') + 1}"


@pytest.mark.parametrize("name", ["", "…", "-- ?"])
def test_a_name_that_makes_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no letter or digit") as caught:
        scenario(RUN, name=name)
    assert caught.value.where == f"{FILE}:3"
