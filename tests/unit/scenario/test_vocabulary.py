"""Every step of the vocabulary: one that means something else than it says makes every recording of it worthless."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.model.facts import CardKind
from harness.model.stimulus import Interruption, Moment, Reply, Stimulus, ToolCall, Turn, Usage
from harness.scenario.compile import find_step
from harness.scenario.vocabulary import STEPS
from tests.support.scenarios import BATCH, RUN, SCRIPT, scenario

_TASKS = [{"intent": "TASK-A"}, {"intent": "TASK-B", "agent": "writer"}]
_CALL = """
  | tool | arguments                          |
  | read | {"paths": ["a.txt"], "intent": "R"} |
"""
_READ = ToolCall(name="read", arguments={"paths": ["a.txt"], "intent": "R"})
_CODE = '''
  """
  return {};
  """
'''
_PLAIN = scenario(RUN).stimulus


def _script(**arguments: str) -> tuple[ToolCall, ...]:
    return (ToolCall(name="code_mode", arguments={"code": "return {};", **arguments}),)


def _batch(**arguments: Any) -> tuple[ToolCall, ...]:
    return (ToolCall(name="subagents", arguments={"tasks": _TASKS, **arguments}),)


def _main(reply: Reply) -> dict[str, object]:
    return {"lanes": {"main": (reply,)}}


def _task(reply: Reply) -> dict[str, object]:
    """Lanes of a batch whose first task has one reply."""
    return {"lanes": {"main": (Reply(calls=_batch(concurrency=2, intent="Work")),), "TASK-A": (reply,)}}


def _tasks(reply: Reply) -> dict[str, object]:
    """Lanes of a batch each of whose tasks has the one reply."""
    return {
        "lanes": {"main": (Reply(calls=_batch(concurrency=2, intent="Work")),), "TASK-A": (reply,), "TASK-B": (reply,)}
    }


GIVEN: dict[str, tuple[str, dict[str, object]]] = {
    'the workspace file "{path}" holds': (
        'Given the workspace file "deep/a.txt" holds\n  """\n  alpha\n    beta\n  """',
        {"files": {"deep/a.txt": "alpha\n  beta\n"}},
    ),
    'the setting "{name}" is {value}': (
        'Given the setting "tools.limits" is {"calls": 1000, "strict": true}',
        {"settings": {"tools": {"limits": {"calls": 1000, "strict": True}}}},
    ),
    'the environment variable "{name}" is "{value}"': (
        'Given the environment variable "HTTPS_PROXY" is "http://127.0.0.1:9"',
        {"environment": {"HTTPS_PROXY": "http://127.0.0.1:9"}},
    ),
    "a terminal of {columns:d} columns and {rows:d} rows": (
        "Given a terminal of 120 columns and 70 rows",
        {"terminal": (120, 70)},
    ),
    "a session that is not saved": ("Given a session that is not saved", {"session": False}),
    "the session is recorded by release {version}": (
        "Given the session is recorded by release 0.96.6",
        {"recorded_by": "0.96.6"},
    ),
    "each reply reports {prompt:d} prompt, {completion:d} completion and {cached:d} cached tokens": (
        'Given each reply reports 7 prompt, 5 completion and 3 cached tokens\nAnd the model answers "A"',
        _main(Reply(text="A", usage=Usage(prompt=7, completion=5, cached=3))),
    ),
    "each reply reports {prompt:d} prompt and {completion:d} completion tokens without cache accounting": (
        'Given each reply reports 7 prompt and 5 completion tokens without cache accounting\nAnd the model answers "A"',
        _main(Reply(text="A", usage=Usage(prompt=7, completion=5, cached=None))),
    ),
    "replies report no usage": (
        'Given replies report no usage\nAnd the model answers "A"',
        _main(Reply(text="A", usage=None)),
    ),
    'the model runs a script meant to "{intent}"': (
        f'Given the model runs a script meant to "Look"{_CODE}',
        _main(Reply(calls=_script(intent="Look"))),
    ),
    "the model runs a script": (f"Given the model runs a script{_CODE}", _main(Reply(calls=_script()))),
    'the model starts a batch of tasks meant to "{intent}" at concurrency {concurrency:d}': (
        BATCH,
        _main(Reply(calls=_batch(concurrency=2, intent="Work"))),
    ),
    "the model starts a batch of tasks at concurrency {concurrency:d}": (
        BATCH.replace(' meant to "Work"', ""),
        _main(Reply(calls=_batch(concurrency=2))),
    ),
    "the model calls": (f"Given the model calls{_CALL}", _main(Reply(calls=(_READ,)))),
    'the model answers "{text}"': ('Given the model answers "It is "done"."', _main(Reply(text='It is "done".'))),
    'for task "{task}" the model calls': (
        f'{BATCH}And for task "TASK-A" the model calls{_CALL}',
        _task(Reply(calls=(_READ,))),
    ),
    'for task "{task}" the model calls after {delay:d} ms': (
        f'{BATCH}And for task "TASK-A" the model calls after 300 ms{_CALL}',
        _task(Reply(calls=(_READ,), delay_ms=300)),
    ),
    'for task "{task}" the model runs a script meant to "{intent}"': (
        f'{BATCH}And for task "TASK-A" the model runs a script meant to "Look"{_CODE}',
        _task(Reply(calls=_script(intent="Look"))),
    ),
    'for task "{task}" the model runs a script meant to "{intent}" after {delay:d} ms': (
        f'{BATCH}And for task "TASK-A" the model runs a script meant to "Look" after 300 ms{_CODE}',
        _task(Reply(calls=_script(intent="Look"), delay_ms=300)),
    ),
    'for task "{task}" the model answers "{text}" after {delay:d} ms': (
        f'{BATCH}And for task "TASK-A" the model answers "A." after 0 ms',
        _task(Reply(text="A.", delay_ms=0)),
    ),
    "for each task the model calls {count:d} times": (
        f"{BATCH}And for each task the model calls 3 times{_CALL}",
        _tasks(Reply(calls=(_READ, _READ, _READ))),
    ),
    'for each task the model answers "{text}"': (
        f'{BATCH}And for each task the model answers "A."',
        _tasks(Reply(text="A.")),
    ),
    'for task "{task}" the provider refuses with status {status:d}': (
        f'{BATCH}And for task "TASK-A" the provider refuses with status 429',
        _task(Reply(status=429)),
    ),
}

WHEN: dict[str, tuple[str, Interruption | None]] = {
    'the prompt "{prompt}" is run': ("is run", None),
    'the prompt "{prompt}" is run and cancelled once "{path}" exists': (
        'is run and cancelled once "waiting" exists',
        Interruption(action="cancel", moment=Moment.FILE_EXISTS, subject="waiting"),
    ),
    'the prompt "{prompt}" is run and the product is killed once "{path}" exists': (
        'is run and the product is killed once "waiting" exists',
        Interruption(action="kill", moment=Moment.FILE_EXISTS, subject="waiting"),
    ),
    'the prompt "{prompt}" is run and the product is killed {delay:d} ms after "{path}" exists': (
        'is run and the product is killed 1500 ms after "waiting" exists',
        Interruption(action="kill", moment=Moment.FILE_EXISTS, subject="waiting", after_ms=1500),
    ),
    'the prompt "{prompt}" is run and cancelled once task "{task}" has asked the model {count:d} times': (
        'is run and cancelled once task "TASK-B" has asked the model 2 times',
        Interruption(action="cancel", moment=Moment.MODEL_ASKED, subject="TASK-B", count=2),
    ),
    'the prompt "{prompt}" is run and the product is killed once task "{task}" has asked the model {count:d} times': (
        'is run and the product is killed once task "TASK-B" has asked the model 2 times',
        Interruption(action="kill", moment=Moment.MODEL_ASKED, subject="TASK-B", count=2),
    ),
}

_TASK_SCRIPT = f"""{BATCH}
And for task "TASK-B" the model calls{_CALL}
And for task "TASK-B" the model runs a script meant to "Look"{_CODE}
"""
_TWO_TURNS = f"{SCRIPT}{RUN}{SCRIPT}{RUN}"
_TWO_BATCHES = f"{BATCH}{RUN}{BATCH}{RUN}"

THEN: dict[str, tuple[str, str, str, CardKind]] = {
    "the facts of the script are": (SCRIPT + RUN, "the facts of the script are", "turn1/call1", CardKind.CODE_MODE),
    "the facts of the script of turn {turn:d} are": (
        _TWO_TURNS,
        "the facts of the script of turn 2 are",
        "turn2/call1",
        CardKind.CODE_MODE,
    ),
    "the facts of script {nth:d} are": (
        f"Given the model calls{_CALL}{SCRIPT}{SCRIPT}{RUN}",
        "the facts of script 2 are",
        "turn1/call3",
        CardKind.CODE_MODE,
    ),
    "the facts of the script of task {number:d} are": (
        _TASK_SCRIPT + RUN,
        "the facts of the script of task 2 are",
        "turn1/call1/task2/call2",
        CardKind.CODE_MODE,
    ),
    "the facts of the batch are": (
        SCRIPT.replace('And the model answers "Done."', "") + BATCH + RUN,
        "the facts of the batch are",
        "turn1/call2",
        CardKind.SUBAGENT_BATCH,
    ),
    "the facts of the batch of turn {turn:d} are": (
        _TWO_BATCHES,
        "the facts of the batch of turn 2 are",
        "turn2/call1",
        CardKind.SUBAGENT_BATCH,
    ),
    "the facts of task {number:d} are": (
        BATCH + RUN,
        "the facts of task 2 are",
        "turn1/call1/task2",
        CardKind.TASK,
    ),
}
_LABEL = {
    CardKind.CODE_MODE: "Total calls",
    CardKind.SUBAGENT_BATCH: "Tasks total",
    CardKind.TASK: "Task failed calls",
}


def test_no_step_is_forgotten_here_and_none_stands_twice() -> None:
    patterns = [(step.keyword, step.pattern) for step in STEPS]
    tried = [
        *(("given", pattern) for pattern in GIVEN),
        *(("when", pattern) for pattern in WHEN),
        *(("then", pattern) for pattern in THEN),
        ("then", 'the fact "{label}" may vary between recordings'),
        ("then", "every recorded run reads alike on both surfaces, or a finding says where it does not"),
    ]
    assert sorted(patterns) == sorted(tried)
    assert len(set(patterns)) == len(patterns)


@pytest.mark.parametrize("pattern", GIVEN)
def test_a_given_step_changes_the_stimulus_in_nothing_but_what_it_says(pattern: str) -> None:
    text, changed = GIVEN[pattern]
    compiled = scenario(text, RUN)
    assert compiled.stimulus == msgspec.structs.replace(_PLAIN, **changed)
    assert compiled.stimulus != _PLAIN
    assert compiled.expected == ()


@pytest.mark.parametrize("pattern", WHEN)
def test_a_when_step_runs_one_turn_and_cuts_it_as_it_says(pattern: str) -> None:
    text, interruption = WHEN[pattern]
    compiled = scenario(BATCH, f'When the prompt "Go "on"." {text}')
    assert compiled.stimulus.turns == (Turn(prompt='Go "on".', interruption=interruption),)
    found = find_step("when", f'the prompt "x" {text}')
    assert found is not None
    assert found[0].pattern == pattern


@pytest.mark.parametrize("pattern", THEN)
def test_a_then_step_finds_its_card_by_the_stimulus_alone_and_changes_no_stimulus(pattern: str) -> None:
    given, text, path, kind = THEN[pattern]
    table = f"| label | value |\n| {_LABEL[kind]} | 3 |"
    compiled = scenario(given, f"Then {text}\n{table}")
    (card,) = compiled.expected
    assert (card.path, card.kind) == (path, kind)
    assert [(stated.label, stated.ordinal) for stated in card.facts] == [(_LABEL[kind], 0)]
    assert compiled.stimulus_sha256 == scenario(given).stimulus_sha256


def test_a_fact_that_may_vary_is_named_and_changes_nothing_else() -> None:
    compiled = scenario(RUN, 'Then the fact "Response token estimate" may vary between recordings')
    assert compiled.varying == ("Response token estimate",)
    assert (compiled.expected, compiled.stimulus) == ((), _PLAIN)


def test_usage_holds_for_the_replies_after_it_and_never_for_a_refusal() -> None:
    lanes = scenario(
        BATCH,
        'Given for task "TASK-A" the model answers "A" after 0 ms',
        "And replies report no usage",
        'And for task "TASK-A" the model answers "B" after 0 ms',
        'And for task "TASK-B" the provider refuses with status 500',
        RUN,
    ).stimulus.lanes
    assert [reply.usage for reply in lanes["TASK-A"]] == [Usage(prompt=100, completion=20, cached=10), None]
    assert lanes["TASK-B"] == (Reply(status=500),)


def test_a_reply_may_come_at_once() -> None:
    lanes = scenario(BATCH, f'Given for task "TASK-A" the model calls after 0 ms{_CALL}', RUN).stimulus.lanes
    assert lanes["TASK-A"] == (Reply(calls=(_READ,), delay_ms=0),)


def test_a_step_of_another_keyword_is_not_taken_for_one_of_the_same_words() -> None:
    assert find_step("given", 'the prompt "x" is run') is None
    assert find_step("then", "the model runs a script") is None
    assert find_step("given", "The model runs a script") is None


def test_the_smallest_scenario_adds_nothing_of_its_own_to_the_stimulus() -> None:
    assert Stimulus(turns=(Turn(prompt="Go."),)) == _PLAIN
