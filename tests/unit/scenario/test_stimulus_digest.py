"""The digest that binds evidence to its scenario: blind to a change, it would keep stale evidence current; moved by
what no run can notice, it would throw good evidence away."""

from __future__ import annotations

import pytest

from harness.scenario.compile import compile_feature
from tests.support.scenarios import FILE

BASE = '''@mixed-outcomes.script
Feature: Base
  Background:
    Given the setting "tools.calls" is 32
    And the environment variable "PROXY" is "http://127.0.0.1:9"

  Scenario: Base
    Given the workspace file "a.txt" holds
      """
      alpha
        beta
      """
    And a terminal of 120 columns and 70 rows
    And each reply reports 100 prompt, 20 completion and 10 cached tokens
    And the model runs a script meant to "Look"
      """
      return {a: 1};
      """
    And the model starts a batch of tasks meant to "Work" at concurrency 2
      | intent | agent |
      | TASK-A | one   |
      | TASK-B |       |
    And for task "TASK-A" the model calls after 200 ms
      | tool | arguments                    |
      | read | {"paths": ["a"], "deep": {}} |
    And for task "TASK-A" the model answers "A." after 50 ms
    And for task "TASK-B" the provider refuses with status 400
    And the model answers "Done."
    When the prompt "Go." is run and cancelled once task "TASK-A" has asked the model 2 times
    Then the facts of the script are
      | label    | value |
      | Warnings | 0     |
    And the facts of the batch are
      | label       | value |
      | Tasks total | 2     |
'''


def _digest(text: str) -> str:
    (compiled,) = compile_feature(text, name=FILE)
    return compiled.stimulus_sha256


def _changed(old: str, new: str) -> str:
    assert BASE.count(old) == 1, old
    return BASE.replace(old, new)


HARMLESS = {
    "scenario name": _changed("Scenario: Base", "Scenario: Another name"),
    "feature name": _changed("Feature: Base", "Feature: Another"),
    "tags": _changed("@mixed-outcomes.script", "@mixed-outcomes.script @local-agent-only"),
    "description": _changed("Scenario: Base\n", "Scenario: Base\n    Why it is run.\n\n"),
    "comments": _changed("    Then", "    # what follows\n    # is expected\n    Then"),
    "blank lines": _changed("    And the model answers", "\n\n    And the model answers"),
    "indentation of a step": _changed("    And a terminal", "         And a terminal"),
    "table padding": _changed("| TASK-B |       |", "|   TASK-B     |     |"),
    "JSON spacing and order": _changed('{"paths": ["a"], "deep": {}}', '{"deep":{},"paths":["a"]}'),
    "other keyword": _changed("    And the model starts", "    Given the model starts"),
    "line ends": BASE.replace("\n", "\r\n"),
    "expected value": _changed("| Warnings | 0     |", "| Warnings | 1     |"),
    "order of expectations": _changed(
        """    Then the facts of the script are
      | label    | value |
      | Warnings | 0     |
    And the facts of the batch are
      | label       | value |
      | Tasks total | 2     |
""",
        """    Then the facts of the batch are
      | label       | value |
      | Tasks total | 2     |
    And the facts of the script are
      | label    | value |
      | Warnings | 0     |
""",
    ),
    "no expectation": BASE.partition("    Then")[0],
    "what may vary": BASE + '    And the fact "Warnings" may vary between recordings\n',
}

TELLING = {
    "setting": _changed('"tools.calls" is 32', '"tools.calls" is 33'),
    "setting's name": _changed('"tools.calls"', '"tools.call"'),
    "setting's type": _changed('"tools.calls" is 32', '"tools.calls" is "32"'),
    "environment": _changed("127.0.0.1:9", "127.0.0.1:8"),
    "file name": _changed('file "a.txt"', 'file "b.txt"'),
    "file text": _changed("alpha", "alpha "),
    "file indentation": _changed("        beta", "      beta"),
    "terminal": _changed("120 columns", "121 columns"),
    "usage": _changed("10 cached", "11 cached"),
    "no cache accounting": _changed(
        "100 prompt, 20 completion and 10 cached tokens",
        "100 prompt and 20 completion tokens without cache accounting",
    ),
    "script": _changed("return {a: 1};", "return {a: 2};"),
    "script's spaces": _changed("return {a: 1};", "return  {a: 1};"),
    "script's intent": _changed('meant to "Look"', 'meant to "Look on"'),
    "script without intent": _changed(' meant to "Look"', ""),
    "batch's intent": _changed(' meant to "Work"', ""),
    "concurrency": _changed("concurrency 2", "concurrency 1"),
    "agent": _changed("| one   |", "| two   |"),
    "task": _changed("| TASK-B |       |", "| TASK-B |       |\n      | TASK-C |       |"),
    "order of tasks": _changed(
        "| TASK-A | one   |\n      | TASK-B |       |", "| TASK-B |       |\n      | TASK-A | one   |"
    ),
    "delay": _changed("after 200 ms", "after 201 ms"),
    "no delay": _changed(" after 200 ms", ""),
    "arguments": _changed('["a"]', '["b"]'),
    "tool": _changed("| read |", "| grep |"),
    "answer": _changed('answers "A."', 'answers "B."'),
    "status": _changed("status 400", "status 401"),
    "last answer": _changed('answers "Done."', 'answers "Done"'),
    "no last answer": _changed('    And the model answers "Done."\n', ""),
    "prompt": _changed('"Go."', '"Go!"'),
    "how it is cut": _changed("is run and cancelled once", "is run and the product is killed once"),
    "when it is cut": _changed("2 times", "3 times"),
    "whose request cuts it": _changed('once task "TASK-A"', 'once task "TASK-B"'),
    "not cut": _changed(' and cancelled once task "TASK-A" has asked the model 2 times', ""),
    "saved or not": _changed("    And a terminal", "    And a session that is not saved\n    And a terminal"),
    "older release": _changed(
        "    And a terminal", "    And the session is recorded by release 0.96.6\n    And a terminal"
    ),
    "second turn": BASE.replace("    Then", '    When the prompt "Again." is run\n    Then'),
}


@pytest.mark.parametrize("change", HARMLESS)
def test_evidence_stays_current_through(change: str) -> None:
    assert HARMLESS[change] != BASE
    assert _digest(HARMLESS[change]) == _digest(BASE)


@pytest.mark.parametrize("change", TELLING)
def test_evidence_is_stale_after_another(change: str) -> None:
    assert _digest(TELLING[change]) != _digest(BASE)


def test_no_two_changes_look_alike() -> None:
    digests = [_digest(text) for text in TELLING.values()]
    assert len(set(digests)) == len(TELLING)
    assert all(len(digest) == 64 for digest in digests)


def test_settings_and_files_have_no_order_but_replies_have() -> None:
    first = '    Given the model answers "A"\n    And the model answers "B"\n'
    setting = '    Given the setting "a" is 1\n    And the setting "b" is 2\n'

    def of(steps: str) -> str:
        return _digest(f'Feature: F\n  Scenario: S\n{steps}    When the prompt "x" is run\n')

    assert of(setting) == of('    Given the setting "b" is 2\n    And the setting "a" is 1\n')
    assert of(first) != of('    Given the model answers "B"\n    And the model answers "A"\n')
