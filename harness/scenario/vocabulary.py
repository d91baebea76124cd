"""The steps that features may use: one table that both the command line and pytest-bdd read scenarios with.

Every step acts on a `Draft`. Patterns are those of the `parse` library, which pytest-bdd uses too.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from harness.model.errors import UsageError
from harness.model.facts import CardKind
from harness.model.stimulus import MAIN_LANE, Interruption, Moment, Reply, ToolCall, Usage
from harness.scenario.draft import BATCH_TOOL, CODE_MODE_TOOL, Draft


class Step(NamedTuple):
    """One step: `keyword` is given, when or then; `act` gets the draft and the pattern's named values."""

    keyword: str
    pattern: str
    act: Callable[..., None]


STEPS: list[Step] = []


def _step(keyword: str, *patterns: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def register(act: Callable[..., None]) -> Callable[..., None]:
        STEPS.extend(Step(keyword, pattern, act) for pattern in patterns)
        return act

    return register


def _json(text: str, draft: Draft) -> Any:
    try:
        return json.loads(text, strict=False)  # a table cell's \\n is a line break to Gherkin already
    except json.JSONDecodeError as error:
        raise UsageError(f"not JSON: {error}", where=draft.where) from error


def _rows(draft: Draft, *columns: str) -> list[dict[str, str]]:
    """Table rows by column name; the first of `columns` is required, the others optional."""
    if not draft.block.table:
        raise UsageError(f"the step needs a table with the column {columns[0]}", where=draft.where)
    header, *rows = draft.block.table
    if columns[0] not in header or not set(header) <= set(columns):
        raise UsageError(f"the table's columns must be among {', '.join(columns)}", where=draft.where)
    return [dict(zip(header, row, strict=True)) for row in rows]


def _calls(draft: Draft) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name=row["tool"], arguments=_json(row["arguments"], draft))
        for row in _rows(draft, "tool", "arguments")
    )


def _script(code: str, intent: str) -> tuple[ToolCall, ...]:
    arguments = {"code": code, "intent": intent} if intent else {"code": code}
    return (ToolCall(name=CODE_MODE_TOOL, arguments=arguments),)


# Given: the workspace and the product


@_step("given", 'the workspace file "{path}" holds')
def workspace_file(draft: Draft, path: str) -> None:
    draft.files[path] = draft.block.text + "\n"


@_step("given", 'the setting "{name}" is {value}')
def setting(draft: Draft, name: str, value: str) -> None:
    draft.set_setting(name, _json(value, draft))


@_step("given", 'the environment variable "{name}" is "{value}"')
def environment_variable(draft: Draft, name: str, value: str) -> None:
    draft.environment[name] = value


@_step("given", "a terminal of {columns:d} columns and {rows:d} rows")
def terminal(draft: Draft, columns: int, rows: int) -> None:
    draft.terminal = (columns, rows)


@_step("given", "a session that is not saved")
def unsaved_session(draft: Draft) -> None:
    draft.session = False


@_step("given", "the session is recorded by release {version}")
def recorded_by(draft: Draft, version: str) -> None:
    draft.recorded_by = version


# Given: the scripted model


@_step("given", "each reply reports {prompt:d} prompt, {completion:d} completion and {cached:d} cached tokens")
def usage(draft: Draft, prompt: int, completion: int, cached: int) -> None:
    draft.usage = Usage(prompt=prompt, completion=completion, cached=cached)


@_step("given", "each reply reports {prompt:d} prompt and {completion:d} completion tokens without cache accounting")
def usage_without_cache(draft: Draft, prompt: int, completion: int) -> None:
    draft.usage = Usage(prompt=prompt, completion=completion, cached=None)


@_step("given", "replies report no usage")
def no_usage(draft: Draft) -> None:
    draft.usage = None


@_step("given", 'the model runs a script meant to "{intent}"')
def model_script(draft: Draft, intent: str) -> None:
    draft.reply(MAIN_LANE, Reply(calls=_script(draft.block.text, intent)))


@_step("given", "the model runs a script")
def model_script_without_intent(draft: Draft) -> None:
    draft.reply(MAIN_LANE, Reply(calls=_script(draft.block.text, "")))


@_step("given", 'the model starts a batch of tasks meant to "{intent}" at concurrency {concurrency:d}')
def model_batch(draft: Draft, intent: str, concurrency: int) -> None:
    tasks = [
        {name: value for name, value in row.items() if value}
        for row in _rows(draft, "intent", "agent", "profile", "context")
    ]
    arguments: dict[str, Any] = {"tasks": tasks, "concurrency": concurrency}
    if intent:
        arguments["intent"] = intent
    draft.reply(MAIN_LANE, Reply(calls=(ToolCall(name=BATCH_TOOL, arguments=arguments),)))


@_step("given", "the model starts a batch of tasks at concurrency {concurrency:d}")
def model_batch_without_intent(draft: Draft, concurrency: int) -> None:
    model_batch(draft, "", concurrency)


@_step("given", "the model calls")
def model_calls(draft: Draft) -> None:
    draft.reply(MAIN_LANE, Reply(calls=_calls(draft)))


@_step("given", 'the model answers "{text}"')
def model_answers(draft: Draft, text: str) -> None:
    draft.reply(MAIN_LANE, Reply(text=text))


@_step("given", 'for task "{task}" the model calls')
def task_calls(draft: Draft, task: str) -> None:
    draft.reply(task, Reply(calls=_calls(draft)))


@_step("given", 'for task "{task}" the model calls after {delay:d} ms')
def task_calls_later(draft: Draft, task: str, delay: int) -> None:
    draft.reply(task, Reply(calls=_calls(draft), delay_ms=delay))


@_step("given", 'for task "{task}" the model runs a script meant to "{intent}"')
def task_script(draft: Draft, task: str, intent: str) -> None:
    draft.reply(task, Reply(calls=_script(draft.block.text, intent)))


@_step("given", 'for task "{task}" the model answers "{text}" after {delay:d} ms')
def task_answers_later(draft: Draft, task: str, text: str, delay: int) -> None:
    draft.reply(task, Reply(text=text, delay_ms=delay))


@_step("given", 'for task "{task}" the provider refuses with status {status:d}')
def task_refused(draft: Draft, task: str, status: int) -> None:
    draft.reply(task, Reply(status=status))


# When: the turns, and how they are cut short


@_step("when", 'the prompt "{prompt}" is run')
def run(draft: Draft, prompt: str) -> None:
    draft.run_turn(prompt)


@_step("when", 'the prompt "{prompt}" is run and cancelled once "{path}" exists')
def cancel_at_file(draft: Draft, prompt: str, path: str) -> None:
    draft.run_turn(prompt, Interruption(action="cancel", moment=Moment.FILE_EXISTS, subject=path))


@_step("when", 'the prompt "{prompt}" is run and the product is killed once "{path}" exists')
def kill_at_file(draft: Draft, prompt: str, path: str) -> None:
    draft.run_turn(prompt, Interruption(action="kill", moment=Moment.FILE_EXISTS, subject=path))


@_step("when", 'the prompt "{prompt}" is run and cancelled once task "{task}" has asked the model {count:d} times')
def cancel_at_request(draft: Draft, prompt: str, task: str, count: int) -> None:
    draft.run_turn(prompt, Interruption(action="cancel", moment=Moment.MODEL_ASKED, subject=task, count=count))


@_step(
    "when",
    'the prompt "{prompt}" is run and the product is killed once task "{task}" has asked the model {count:d} times',
)
def kill_at_request(draft: Draft, prompt: str, task: str, count: int) -> None:
    draft.run_turn(prompt, Interruption(action="kill", moment=Moment.MODEL_ASKED, subject=task, count=count))


# Then: expected facts


@_step("then", "the facts of the script are")
def script_facts(draft: Draft) -> None:
    draft.expect(draft.script(), CardKind.CODE_MODE, draft.block.table)


@_step("then", "the facts of the script of turn {turn:d} are")
def script_facts_of_turn(draft: Draft, turn: int) -> None:
    draft.expect(draft.script(turn), CardKind.CODE_MODE, draft.block.table)


@_step("then", "the facts of script {nth:d} are")
def nth_script_facts(draft: Draft, nth: int) -> None:
    draft.expect(draft.script(None, nth), CardKind.CODE_MODE, draft.block.table)


@_step("then", "the facts of the script of task {number:d} are")
def task_script_facts(draft: Draft, number: int) -> None:
    draft.expect(draft.script_of_task(number), CardKind.CODE_MODE, draft.block.table)


@_step("then", "the facts of the batch are")
def batch_facts(draft: Draft) -> None:
    draft.expect(draft.batch(), CardKind.SUBAGENT_BATCH, draft.block.table)


@_step("then", "the facts of the batch of turn {turn:d} are")
def batch_facts_of_turn(draft: Draft, turn: int) -> None:
    draft.expect(draft.batch(turn), CardKind.SUBAGENT_BATCH, draft.block.table)


@_step("then", "the facts of task {number:d} are")
def task_facts(draft: Draft, number: int) -> None:
    draft.expect(draft.task(number), CardKind.TASK, draft.block.table)


@_step("then", 'the fact "{label}" may vary between recordings')
def may_vary(draft: Draft, label: str) -> None:
    draft.varying.append(label)
