"""The steps that features may use: one table that both the command line and pytest-bdd read scenarios with.

Every step acts on a `Draft`. Patterns are those of the `parse` library, which pytest-bdd uses too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from harness.model.errors import UsageError
from harness.model.facts import CardKind
from harness.model.stimulus import MAIN_LANE, Interruption, Moment, Reply, ToolCall, Usage
from harness.scenario.draft import BATCH_TOOL, CODE_MODE_TOOL, Draft
from harness.scenario.inputs import inside, json_object, json_value, number, rows
from harness.spec.facts import FACTS


class Step(NamedTuple):
    """One step: `keyword` is given, when or then; `act` gets the draft and the pattern's named values. `block` is what
    must stand under it: ``text`` (a doc string), ``table``, or "" for neither."""

    keyword: str
    pattern: str
    act: Callable[..., None]
    block: str = ""


STEPS: list[Step] = []

MOST_REPEATS = 1_000
"""How often one step may repeat its calls."""


def _step(keyword: str, pattern: str, block: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    def register(act: Callable[..., None]) -> Callable[..., None]:
        STEPS.append(Step(keyword, pattern, act, block))
        return act

    return register


def _calls(draft: Draft) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name=row["tool"], arguments=json_object(draft, row["arguments"]))
        for row in rows(draft, "tool", "arguments", required=2)
    )


def _script(draft: Draft, intent: str) -> tuple[ToolCall, ...]:
    code = draft.block.text
    arguments = {"code": code, "intent": intent} if intent else {"code": code}
    return (ToolCall(name=CODE_MODE_TOOL, arguments=arguments),)


# Given: the workspace and the product


@_step("given", 'the workspace file "{path}" holds', "text")
def workspace_file(draft: Draft, path: str) -> None:
    draft.files[inside(draft, path)] = f"{draft.block.text}\n"


@_step("given", 'the setting "{name}" is {value}')
def setting(draft: Draft, name: str, value: str) -> None:
    draft.set_setting(name, json_value(draft, value))


@_step("given", 'the environment variable "{name}" is "{value}"')
def environment_variable(draft: Draft, name: str, value: str) -> None:
    draft.environment[name] = value


@_step("given", "a terminal of {columns:d} columns and {rows:d} rows")
def terminal(draft: Draft, columns: int, rows: int) -> None:
    draft.terminal = (number(draft, "the number of columns", columns, 1), number(draft, "the number of rows", rows, 1))


@_step("given", "a session that is not saved")
def unsaved_session(draft: Draft) -> None:
    draft.session = False


@_step("given", "the session is recorded by release {version}")
def recorded_by(draft: Draft, version: str) -> None:
    draft.recorded_by = version


# Given: the scripted model


@_step("given", "each reply reports {prompt:d} prompt, {completion:d} completion and {cached:d} cached tokens")
def usage(draft: Draft, prompt: int, completion: int, cached: int) -> None:
    for what, count in (("prompt", prompt), ("completion", completion), ("cached", cached)):
        number(draft, f"the number of {what} tokens", count, 0)
    draft.usage = Usage(prompt=prompt, completion=completion, cached=cached)


@_step("given", "each reply reports {prompt:d} prompt and {completion:d} completion tokens without cache accounting")
def usage_without_cache(draft: Draft, prompt: int, completion: int) -> None:
    usage(draft, prompt, completion, 0)
    draft.usage = Usage(prompt=prompt, completion=completion, cached=None)


@_step("given", "replies report no usage")
def no_usage(draft: Draft) -> None:
    draft.usage = None


@_step("given", 'the model runs a script meant to "{intent}"', "text")
def model_script(draft: Draft, intent: str) -> None:
    draft.reply(MAIN_LANE, Reply(calls=_script(draft, intent)))


@_step("given", "the model runs a script", "text")
def model_script_without_intent(draft: Draft) -> None:
    draft.reply(MAIN_LANE, Reply(calls=_script(draft, "")))


@_step("given", 'the model starts a batch of tasks meant to "{intent}" at concurrency {concurrency:d}', "table")
def model_batch(draft: Draft, intent: str, concurrency: int) -> None:
    tasks = [
        {name: value for name, value in row.items() if value}
        for row in rows(draft, "intent", "agent", "profile", "context", required=1)
    ]
    intents = [task.get("intent") for task in tasks]
    if not all(intents) or len(set(intents)) < len(intents):
        raise UsageError("every task needs an intent of its own: it names the task's replies", where=draft.where)
    number(draft, "concurrency", concurrency, 1)
    arguments: dict[str, Any] = {"tasks": tasks, "concurrency": concurrency}
    if intent:
        arguments["intent"] = intent
    draft.reply(MAIN_LANE, Reply(calls=(ToolCall(name=BATCH_TOOL, arguments=arguments),)))


@_step("given", "the model starts a batch of tasks at concurrency {concurrency:d}", "table")
def model_batch_without_intent(draft: Draft, concurrency: int) -> None:
    model_batch(draft, "", concurrency)


@_step("given", "the model calls", "table")
def model_calls(draft: Draft) -> None:
    draft.reply(MAIN_LANE, Reply(calls=_calls(draft)))


@_step("given", 'the model answers "{text}"')
def model_answers(draft: Draft, text: str) -> None:
    draft.reply(MAIN_LANE, Reply(text=text))


@_step("given", 'for task "{task}" the model calls', "table")
def task_calls(draft: Draft, task: str) -> None:
    draft.reply(task, Reply(calls=_calls(draft)))


@_step("given", 'for task "{task}" the model calls after {delay:d} ms', "table")
def task_calls_later(draft: Draft, task: str, delay: int) -> None:
    draft.reply(task, Reply(calls=_calls(draft), delay_ms=number(draft, "the delay", delay, 0)))


@_step("given", 'for task "{task}" the model runs a script meant to "{intent}"', "text")
def task_script(draft: Draft, task: str, intent: str) -> None:
    draft.reply(task, Reply(calls=_script(draft, intent)))


@_step("given", 'for task "{task}" the model runs a script meant to "{intent}" after {delay:d} ms', "text")
def task_script_later(draft: Draft, task: str, intent: str, delay: int) -> None:
    draft.reply(task, Reply(calls=_script(draft, intent), delay_ms=number(draft, "the delay", delay, 0)))


@_step("given", 'for task "{task}" the model answers "{text}" after {delay:d} ms')
def task_answers_later(draft: Draft, task: str, text: str, delay: int) -> None:
    draft.reply(task, Reply(text=text, delay_ms=number(draft, "the delay", delay, 0)))


@_step("given", "for each task the model calls {count:d} times", "table")
def each_task_calls(draft: Draft, count: int) -> None:
    calls = _calls(draft) * number(draft, "how often each call is made", count, 1, MOST_REPEATS)
    for task in draft.tasks():
        draft.reply(task, Reply(calls=calls))


@_step("given", 'for each task the model answers "{text}"')
def each_task_answers(draft: Draft, text: str) -> None:
    for task in draft.tasks():
        draft.reply(task, Reply(text=text))


@_step("given", 'for task "{task}" the provider refuses with status {status:d}')
def task_refused(draft: Draft, task: str, status: int) -> None:
    draft.reply(task, Reply(status=number(draft, "the status of a refusal", status, 400, 599)))


# When: the turns, and how they are cut short


@_step("when", 'the prompt "{prompt}" is run')
def run(draft: Draft, prompt: str) -> None:
    draft.run_turn(prompt)


@_step("when", 'the prompt "{prompt}" is run and cancelled once "{path}" exists')
def cancel_at_file(draft: Draft, prompt: str, path: str) -> None:
    draft.run_turn(prompt, Interruption(action="cancel", moment=Moment.FILE_EXISTS, subject=inside(draft, path)))


@_step("when", 'the prompt "{prompt}" is run and the product is killed once "{path}" exists')
def kill_at_file(draft: Draft, prompt: str, path: str) -> None:
    draft.run_turn(prompt, Interruption(action="kill", moment=Moment.FILE_EXISTS, subject=inside(draft, path)))


@_step("when", 'the prompt "{prompt}" is run and the product is killed {delay:d} ms after "{path}" exists')
def kill_after_file(draft: Draft, prompt: str, delay: int, path: str) -> None:
    after = number(draft, "the delay", delay, 0)
    moment = Interruption(action="kill", moment=Moment.FILE_EXISTS, subject=inside(draft, path), after_ms=after)
    draft.run_turn(prompt, moment)


@_step("when", 'the prompt "{prompt}" is run and cancelled once task "{task}" has asked the model {count:d} times')
def cancel_at_request(draft: Draft, prompt: str, task: str, count: int) -> None:
    number(draft, "how often the task has asked", count, 1)
    draft.run_turn(prompt, Interruption(action="cancel", moment=Moment.MODEL_ASKED, subject=task, count=count))


@_step(
    "when",
    'the prompt "{prompt}" is run and the product is killed once task "{task}" has asked the model {count:d} times',
)
def kill_at_request(draft: Draft, prompt: str, task: str, count: int) -> None:
    number(draft, "how often the task has asked", count, 1)
    draft.run_turn(prompt, Interruption(action="kill", moment=Moment.MODEL_ASKED, subject=task, count=count))


# Then: expected facts


@_step("then", "the facts of the script are", "table")
def script_facts(draft: Draft) -> None:
    draft.expect(draft.script(), CardKind.CODE_MODE, draft.block.table)


@_step("then", "the facts of the script of turn {turn:d} are", "table")
def script_facts_of_turn(draft: Draft, turn: int) -> None:
    draft.expect(draft.script(turn), CardKind.CODE_MODE, draft.block.table)


@_step("then", "the facts of script {nth:d} are", "table")
def nth_script_facts(draft: Draft, nth: int) -> None:
    draft.expect(
        draft.script(None, number(draft, "the script's number", nth, 1)), CardKind.CODE_MODE, draft.block.table
    )


@_step("then", "the facts of the script of task {number:d} are", "table")
def task_script_facts(draft: Draft, number: int) -> None:
    draft.expect(draft.script_of_task(number), CardKind.CODE_MODE, draft.block.table)


@_step("then", "the facts of the batch are", "table")
def batch_facts(draft: Draft) -> None:
    draft.expect(draft.batch(), CardKind.SUBAGENT_BATCH, draft.block.table)


@_step("then", "the facts of the batch of turn {turn:d} are", "table")
def batch_facts_of_turn(draft: Draft, turn: int) -> None:
    draft.expect(draft.batch(turn), CardKind.SUBAGENT_BATCH, draft.block.table)


@_step("then", "the facts of task {number:d} are", "table")
def task_facts(draft: Draft, number: int) -> None:
    draft.expect(draft.task(number), CardKind.TASK, draft.block.table)


@_step("then", 'the fact "{label}" may vary between recordings')
def may_vary(draft: Draft, label: str) -> None:
    if all(entry.label != label for entry in FACTS):
        raise UsageError(f"{label!r} is no label of a card", where=draft.where, hint="`harness facts` lists them")
    draft.varying.append(label)


@_step("then", "every recorded run reads alike on both surfaces, or a finding says where it does not")
def every_run_agrees(draft: Draft) -> None:
    draft.over_every_run = True
