"""Rules of a whole run: a reopening that does something, or a private text on a card, must not pass unseen."""

from __future__ import annotations

import pytest

from harness.compare.tried import Tried
from harness.compare.whole_run import (
    Asked,
    ListedFile,
    PrivateTexts,
    Reopening,
    listing,
    requests,
    try_privacy,
    try_reopening,
)
from harness.model.errors import DecodeError
from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts, Fact
from tests.support.columns import LA_REOPEN, MC_REOPEN, card, compare_tried, fact, rows

A = ListedFile(path="a.txt", size=6, sha256="0" * 64)
B = ListedFile(path="b.txt", size=2, sha256="1" * 64)
ASKED = (Asked(at=10.0, lane="main"), Asked(at=12.0, lane="TASK-A"))
RUN = Reopening(left=(A,), found=(A,), found_file="found", asked=ASKED, log_file="log", since=20.0)


def _run(**changed: object) -> Reopening:
    members = {name: getattr(RUN, name) for name in RUN.__struct_fields__}
    return Reopening(**{**members, **changed})


def _broken(tries: list[Tried]) -> list[tuple[str, str, str, str | None, int | None]]:
    return [
        (
            problem.requirement,
            problem.expected,
            problem.observed,
            problem.place.file if problem.place else None,
            problem.place.line if problem.place else None,
        )
        for tried in tries
        if (problem := tried.problem) is not None
    ]


def test_a_reopening_that_does_nothing_keeps_both_rules_twice() -> None:
    tries = list(try_reopening(RUN, scripts=True))
    assert _broken(tries) == []
    assert sorted(tried.requirement for tried in tries) == ["acceptance.no-replay"] * 2 + ["code-mode.reopen-inert"] * 2


def test_without_a_script_the_reopening_says_nothing_about_scripts() -> None:
    assert {tried.requirement for tried in try_reopening(RUN, scripts=False)} == {"acceptance.no-replay"}


@pytest.mark.parametrize(
    ("found", "observed"),
    [
        ((A, B), "changed: b.txt"),
        ((), "changed: a.txt"),
        ((ListedFile(path="a.txt", size=6, sha256="2" * 64),), "changed: a.txt"),
        (tuple(ListedFile(path=f"{n}", size=1, sha256="") for n in range(5)), "changed: 0, 1, 2 and 3 more"),
    ],
)
def test_a_workspace_that_a_reopening_changed_is_told(found: tuple[ListedFile, ...], observed: str) -> None:
    tries = list(try_reopening(_run(found=found), scripts=True))
    assert _broken(tries) == [
        ("acceptance.no-replay", "the workspace as the run left it", observed, "found", None),
    ]
    assert [tried.requirement for tried in tries].count("code-mode.reopen-inert") == 1  # the model was not asked


def test_a_model_that_was_asked_by_a_reopening_is_told_with_the_line_of_the_log() -> None:
    late = (*ASKED, Asked(at=19.9, lane="main"), Asked(at=20.5, lane="main"), Asked(at=21.0, lane="", fault="no lane"))
    expected = "no request of a model while reopening"
    observed = "2 requests, the first 0.5 s after it began: main"
    assert _broken(list(try_reopening(_run(asked=late), scripts=True))) == [
        ("acceptance.no-replay", expected, observed, "log", 4)
    ]
    (told,) = _broken(list(try_reopening(_run(asked=(Asked(at=30.0, lane="", fault="no lane"),)), scripts=True)))
    assert told[2] == "1 requests, the first 10.0 s after it began: no lane"


def test_asking_which_models_there_are_is_no_request_of_an_agent() -> None:
    assert _broken(list(try_reopening(_run(asked=(*ASKED, Asked(at=25.0, lane=""))), scripts=True))) == []


@pytest.mark.parametrize(
    ("changed", "tries"),
    [
        ({"left": None}, 1),
        ({"found": None}, 1),
        ({"asked": None}, 1),
        ({"since": None}, 1),
        ({"left": None, "asked": None}, 0),
    ],
)
def test_what_a_bundle_does_not_hold_is_not_tried(changed: dict[str, object], tries: int) -> None:
    assert len(list(try_reopening(_run(**changed), scripts=False))) == tries


def test_listings_and_logs_are_read_and_what_is_none_is_refused_with_its_place() -> None:
    assert listing(b'[{"path":"a.txt","size":6,"sha256":"' + b"0" * 64 + b'"}]', where="w") == (A,)
    assert requests(b'{"at":10.0,"lane":"main","step":1}\n{"at":12,"lane":"TASK-A"}\n', where="w") == ASKED
    for read, bad in ((listing, b'{"path":1}'), (listing, b""), (requests, b'{"lane":"main"}'), (requests, b"[")):
        with pytest.raises(DecodeError) as refused:
            read(bad, where="the member")
        assert "the member" in str(refused.value)


# private texts

CONTEXT = "The name of the file is heron."
PATH = "turn1/call1/task1"


def _task(*parts: Fact, title: str = "Look", path: str = PATH) -> CardFacts:
    own = (fact("Task intent", "Look for it"), *rows("Task activity", "read: success"))
    made = card(own, parts, path=path, kind=CardKind.TASK)
    return CardFacts(path=made.path, kind=made.kind, facts=made.facts, title=title, place=made.place)


def _privacy(shown: CardFacts, column: Column = LA_REOPEN, others: tuple[str, ...] = ()) -> list[tuple[Column, Tried]]:
    texts = PrivateTexts(contexts={PATH: CONTEXT}, others=others)
    return list(try_privacy({column: ColumnFacts(column=column, cards=(shown,))}, texts))


def test_a_task_whose_texts_are_its_own_keeps_what_is_private() -> None:
    tries = _privacy(_task(), others=("what a tool said", "success"))
    assert [tried.problem for _, tried in tries if tried.problem] == []
    # intent, activity and title are looked at for the context; the activity for everything
    assert [tried.requirement for _, tried in tries].count("task.task-intent.never-context") == 3
    assert [tried.requirement for _, tried in tries].count("task.activity-private") == 1


@pytest.mark.parametrize("column", [LA_REOPEN, MC_REOPEN])
@pytest.mark.parametrize(
    ("shown", "label"),
    [
        (_task(fact("Task agent", f"About: {CONTEXT}")), "Task agent"),
        (_task(fact("Task agent", CONTEXT[:24])), "Task agent"),
        (_task(title=CONTEXT), ""),
    ],
)
def test_a_context_on_a_card_is_told_wherever_it_stands(column: Column, shown: CardFacts, label: str) -> None:
    ((surface, tried),) = [(at, tried) for at, tried in _privacy(shown, column) if tried.problem]
    assert tried.problem is not None
    assert (surface, tried.requirement, tried.problem.card, tried.problem.label) == (
        column,
        "task.task-intent.never-context",
        PATH,
        label,
    )
    assert tried.problem.place is not None


def test_a_short_text_that_happens_to_stand_in_the_context_gives_nothing_away() -> None:
    assert [tried for _, tried in _privacy(_task(fact("Task agent", "heron"))) if tried.problem] == []


@pytest.mark.parametrize("text", ["read: secret answer", "secret answer", f"read: {CONTEXT}"])
def test_an_activity_with_output_or_context_in_it_is_told(text: str) -> None:
    shown = _task(fact("Task activity", text, ordinal=1))
    told = [
        tried for _, tried in _privacy(shown, others=("secret answer",)) if tried.requirement == "task.activity-private"
    ]
    assert [tried.problem is None for tried in told] == [True, False]
    problem = told[1].problem
    assert problem is not None
    assert (problem.card, problem.label, problem.observed) == (PATH, "Task activity", repr(text))


def test_a_task_without_a_context_is_no_case_of_it() -> None:
    tries = _privacy(_task(path="turn1/call1/task2"))
    assert {tried.requirement for _, tried in tries} == {"task.activity-private"}


def test_two_broken_rules_of_one_row_are_two_findings() -> None:
    shown = _task(fact("Task activity", CONTEXT, ordinal=1))
    compared = compare_tried({LA_REOPEN: shown}, _privacy(shown))
    told = [(found.requirement, found.surface, found.ordinal) for found in compared.findings]
    assert ("task.activity-private", "local-agent-reopen", 1) in told
    assert ("task.task-intent.never-context", "local-agent-reopen", 1) in told
    assert compared.cases["task.activity-private"] == 2


def test_a_finding_of_the_run_itself_names_no_surface() -> None:
    broken = [(None, tried) for tried in try_reopening(_run(found=()), scripts=True)]
    (found,) = [item for item in compare_tried({}, broken).findings if item.requirement == "acceptance.no-replay"]
    assert (found.surface, found.card, found.label) == ("run", "", "")
    assert found.command == f"harness show {found.id}"
