"""From Gherkin's own constructs - outlines, backgrounds, rules, tags - to scenarios: one that is lost or mixed up with
another would be recorded, shown and judged as something else."""

from __future__ import annotations

import pytest

from harness.model.facts import CardKind
from harness.scenario.compile import DRIVERS, Scenario, compile_feature
from tests.support.scenarios import FILE, RUN, SCRIPT, scenario

OUTLINE = '''Feature: Outline
  Background:
    Given the workspace file "a.txt" holds
      """
      alpha
      """

  @overflow.paths-previewed
  Scenario Outline: Script that reads <times> times
    Given the model runs a script meant to "Read <times> times"
      """
      for (let i = 0; i < <times>; i++) { read(i); }
      """
    When the prompt "Read." is run
    Then the facts of the script are
      | label       | value   |
      | Total calls | <times> |

    @small
    Examples:
      | times |
      | 4     |

    @local-agent-only @release:0.104.0
    Examples:
      | times |
      | 60    |
      | 600   |

  # of the next one
  @recovered-failures.fatal
  Scenario: Plain
    When the prompt "Plain." is run

  Rule: Inside
    Background:
      Given the environment variable "A" is "1"

    @legacy.code-mode
    Scenario: In a rule
      When the prompt "Rule." is run
'''


def _compiled(text: str) -> dict[str, Scenario]:
    return {compiled.name: compiled for compiled in compile_feature(text, name=FILE)}


def test_every_row_of_every_examples_table_is_a_scenario_of_its_own() -> None:
    found = _compiled(OUTLINE)
    assert list(found) == [
        "Script that reads 4 times",
        "Script that reads 60 times",
        "Script that reads 600 times",
        "Plain",
        "In a rule",
    ]
    sixty = found["Script that reads 60 times"]
    assert sixty.id == f"{FILE}::Script that reads 60 times"
    assert sixty.slug == "script-that-reads-60-times"
    assert sixty.line == 27
    arguments = sixty.stimulus.lanes["main"][0].calls[0].arguments
    assert arguments == {"code": "for (let i = 0; i < 60; i++) { read(i); }", "intent": "Read 60 times"}
    (card,) = sixty.expected
    assert (card.path, card.kind, card.facts[0].line) == ("turn1/call1", CardKind.CODE_MODE, 17)
    assert str(card.facts[0].value.reading) == "60"
    assert len({compiled.stimulus_sha256 for compiled in found.values()}) == 5


def test_tags_of_the_outline_and_of_its_examples_add_up_and_choose_drivers_and_releases() -> None:
    found = _compiled(OUTLINE)
    assert found["Script that reads 4 times"].tags == ("overflow.paths-previewed", "small")
    assert found["Script that reads 4 times"].drivers == DRIVERS == ("local-agent", "mission-control")
    assert found["Script that reads 4 times"].releases == ()
    assert found["Script that reads 600 times"].drivers == ("local-agent",)
    assert found["Script that reads 600 times"].releases == ("0.104.0",)
    assert found["In a rule"].tags == ("legacy.code-mode",)


def test_a_background_acts_in_every_scenario_and_a_rule_s_only_inside_it() -> None:
    found = _compiled(OUTLINE)
    assert all(compiled.stimulus.files == {"a.txt": "alpha\n"} for compiled in found.values())
    assert found["In a rule"].stimulus.environment == {"A": "1"}
    assert found["Plain"].stimulus.environment == {}


def test_the_text_shown_for_a_scenario_is_its_own_with_its_backgrounds_and_nothing_of_its_neighbours() -> None:
    found = _compiled(OUTLINE)
    background = 'Background:\n  Given the workspace file "a.txt" holds\n    """\n    alpha\n    """\n\n'
    assert found["Plain"].gherkin == (
        f'{background}@recovered-failures.fatal\nScenario: Plain\n  When the prompt "Plain." is run\n'
    )
    assert found["In a rule"].gherkin == (
        f'{background}Background:\n  Given the environment variable "A" is "1"\n\n'
        '@legacy.code-mode\nScenario: In a rule\n  When the prompt "Rule." is run\n'
    )
    for times in (4, 60, 600):
        shown = found[f"Script that reads {times} times"].gherkin
        assert shown.startswith(f"{background}@overflow.paths-previewed\nScenario Outline: Script that reads <times>")
        assert shown.endswith("  | 600   |\n")
        assert "Plain" not in shown
        assert "of the next one" not in shown


def test_a_first_scenario_at_the_file_s_edge_is_shown_whole() -> None:
    (only,) = compile_feature('Feature: F\n@a\n@b\nScenario: S\nWhen the prompt "x" is run', name=FILE)
    assert only.gherkin == '@a\n@b\nScenario: S\nWhen the prompt "x" is run\n'
    assert only.tags == ("a", "b")


def test_separators_that_only_python_knows_break_no_line() -> None:
    text = 'Feature: F\n  Scenario: A\x0bB\n    When the prompt "x\u2028y" is run\n'
    text += '  Scenario: Next\n    When the prompt "z" is run\n'
    first, second = compile_feature(text, name=FILE)
    assert first.stimulus.turns[0].prompt == "x\u2028y"
    assert "Next" not in first.gherkin
    assert second.gherkin == 'Scenario: Next\n  When the prompt "z" is run\n'


@pytest.mark.parametrize(
    ("tag", "drivers"),
    [
        ("@local-agent-only", ("local-agent",)),
        ("@mission-control-only", ("mission-control",)),
        ("@local-agent-only @mission-control-only", DRIVERS),
        ("@local-agent", DRIVERS),
    ],
)
def test_only_the_drivers_that_a_tag_names_drive(tag: str, drivers: tuple[str, ...]) -> None:
    assert scenario(RUN, tags=tag).drivers == drivers


def test_an_observation_is_named_by_scenario_and_driver() -> None:
    compiled = scenario(RUN, name="Four tasks — at ONCE, é/2")
    assert compiled.observation("local-agent") == "four-tasks-at-once-é-2.local-agent"
    assert compiled.observation("local-agent") != compiled.observation("mission-control")


def test_two_tables_of_one_card_are_one_card_and_count_its_rows_on() -> None:
    compiled = scenario(
        SCRIPT,
        RUN,
        "Then the facts of the script are\n| label | value |\n| Changed path | a |\n| Warnings | 0 |",
        "And the facts of script 1 are\n| label | value |\n| Changed path | b |\n| Changed path | absent |",
    )
    (card,) = compiled.expected
    assert [(stated.label, stated.ordinal, str(stated.value.reading)) for stated in card.facts] == [
        ("Changed path", 0, "a"),
        ("Warnings", 0, "0"),
        ("Changed path", 1, "b"),
        ("Changed path", 2, "(absent)"),
    ]
    assert [stated.line for stated in card.facts] == [12, 13, 16, 17]


@pytest.mark.parametrize("text", [OUTLINE, OUTLINE.replace("\n", "\r\n")])
def test_each_line_of_a_scenario_s_text_knows_its_line_in_the_file(text: str) -> None:
    file = text.split("\n")
    for compiled in _compiled(text).values():
        shown = compiled.gherkin.rstrip("\n").split("\n")
        assert len(shown) == len(compiled.gherkin_lines)
        for line, number in zip(shown, compiled.gherkin_lines, strict=True):
            assert line.strip() == (file[number - 1].strip() if number else "")
        rows = {stated.line for card in compiled.expected for stated in card.facts}
        assert rows <= set(compiled.gherkin_lines), "every expectation stands in the text that is shown"
