"""Small feature texts for tests of what is made of scenarios."""

from __future__ import annotations

import textwrap

from harness.scenario.compile import Scenario, compile_feature

FILE = "small.feature"

SCRIPT = '''
Given the model runs a script meant to "Look around"
  """
  return {};
  """
And the model answers "Done."
'''
BATCH = """
Given the model starts a batch of tasks meant to "Work" at concurrency 2
  | intent | agent  |
  | TASK-A |        |
  | TASK-B | writer |
"""
RUN = """
When the prompt "Go." is run
"""


def feature(*steps: str, name: str = "Small", tags: str = "") -> str:
    """A feature of one scenario. Every part of `steps` is dedented and stands below the scenario's line, which is the
    third of the file (the tags' is the second)."""
    body = textwrap.indent("\n".join(textwrap.dedent(step).strip("\n") for step in steps), "    ")
    return f"Feature: Small\n  {tags}\n  Scenario: {name}\n{body}\n"


def scenario(*steps: str, name: str = "Small", tags: str = "") -> Scenario:
    """The only scenario of `feature(*steps)`."""
    (compiled,) = compile_feature(feature(*steps, name=name, tags=tags), name=FILE)
    return compiled
