"""Places and the evidence beside them: every place has an anchor, and nothing is left out without a word."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from markupsafe import Markup

from harness.model.facts import Place
from harness.report.inputs import Excerpt, Picture, ScreenMark
from harness.report.marks import Mark, marked
from harness.report.proofs import Budget, Proofs
from harness.report.svg import drawn, refusal
from harness.terminal.picture import Mark as TerminalMark
from harness.terminal.picture import svg
from harness.terminal.screen import Screen
from tests.support.suppliers import pictures

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 16">{}</svg>'


def line(offset: int, number: int = 3) -> Place:
    return Place(file="live.jsonl", line=number, offset=offset)


def cell(row: int, first: int = 2, last: int = 5) -> Place:
    return Place(file="live.cast", marker="card", row=row, columns=(first, last))


def nothing(observation: str, place: object, marks: object = ()) -> None:
    return None


def filled(proofs: Proofs, excerpts: object = nothing, screens: object = nothing, room: int = 10**6) -> Proofs:
    for findings in (True, False):
        proofs.fill(excerpts, screens, Budget(room), Budget(room), findings=findings)  # type: ignore[arg-type] # fakes
    return proofs


def test_a_place_has_one_anchor_however_often_it_is_cited() -> None:
    proofs = Proofs("run", "o1")
    assert proofs.cite(line(1), "A", "o1r1") == "o1p1"
    assert proofs.cite(line(2), "B", "o1r2") == "o1p2"
    assert proofs.cite(line(1), "C", "o1r3", finding=True) == "o1p1"
    assert len(proofs) == 2


def test_places_of_one_frame_share_one_text() -> None:
    proofs = Proofs("run", "o1")
    for offset in (0, 4):
        proofs.cite(line(offset), f"L{offset}", "o1r1")

    def excerpts(observation: str, place: Place) -> Excerpt:
        assert observation == "run"
        at = place.offset or 0
        return Excerpt(raw="raw", formatted="abc def", highlight=((at, at + 3),))

    (block,) = filled(proofs, excerpts).blocks
    assert block.text == Markup('<mark id=o1p1 title="L0">abc</mark> <mark id=o1p2 title="L4">def</mark>')
    assert (block.title, block.listed, block.note) == ("live.jsonl, line 3", (), "")


def test_raw_text_stands_only_where_a_finding_cites_it() -> None:
    def excerpts(observation: str, place: Place) -> Excerpt:
        return Excerpt(raw="r" * 1_000, formatted="formatted", highlight=((0, 1),))

    proofs = Proofs("run", "o1")
    proofs.cite(line(0, 1), "A", "o1r1", finding=True)
    proofs.cite(line(0, 2), "B", "o1r2")
    first, second = filled(proofs, excerpts).blocks
    assert first.raw == "r" * 600 + " … 400 more characters"
    assert second.raw == ""


def test_without_room_or_supplier_places_are_listed_with_the_reason() -> None:
    proofs = Proofs("run", "o1")
    proofs.cite(line(7), "A", "o1r1")
    (block,) = filled(proofs).blocks
    assert block.note == "no excerpt was supplied"
    assert [item.anchor for item in block.listed] == ["o1p1"]
    assert block.listed[0].within == "byte 7"

    def excerpts(observation: str, place: Place) -> Excerpt:
        return Excerpt(raw="", formatted="x" * 500, highlight=((0, 1),))

    again = Proofs("run", "o1")
    again.cite(line(7), "A", "o1r1")
    (cramped,) = filled(again, excerpts, room=100).blocks
    assert (cramped.note, cramped.text) == ("left out to keep this page small", Markup(""))
    assert [item.anchor for item in cramped.listed] == ["o1p1"]


def test_findings_get_the_room_first() -> None:
    asked: list[str] = []

    def excerpts(observation: str, place: Place) -> Excerpt:
        asked.append(observation)
        return Excerpt(raw="", formatted="x" * 80, highlight=())

    room, pixels = Budget(100), Budget(0)
    plain, cited = Proofs("plain", "o1"), Proofs("cited", "o2")
    plain.cite(line(0), "A", "o1r1")
    cited.cite(line(0), "A", "o2r1", finding=True)
    for findings in (True, False):
        for proofs in (plain, cited):
            proofs.fill(excerpts, nothing, room, pixels, findings=findings)
    assert asked == ["cited", "plain"]
    assert cited.blocks[0].text
    assert not plain.blocks[0].text


def test_marks_nest_and_never_cross() -> None:
    marks = [
        Mark(start=2, end=4, anchor="in", title=""),
        Mark(start=0, end=6, anchor="out", title=""),
        Mark(start=5, end=8, anchor="crossing", title=""),
        Mark(start=7, end=99, anchor="outside", title=""),
    ]
    text, placed = marked("abcdefgh", marks, 100)
    assert text == '<mark id=out title="">ab<mark id=in title="">cd</mark>ef</mark>gh'
    assert placed == {"in", "out"}


def test_a_mark_that_ends_before_the_next_begins_is_closed_first() -> None:
    marks = [Mark(start=0, end=9, anchor="a", title=""), Mark(start=1, end=3, anchor="b", title="")]
    text, _ = marked("abcdefghi", [*marks, Mark(start=5, end=12, anchor="c", title="")], 100)
    assert text.count("<mark") == text.count("</mark>") == 2


def test_a_long_text_begins_near_its_first_mark_and_says_what_is_cut() -> None:
    text, placed = marked("a" * 900 + "<b>" + "c" * 97, [Mark(start=900, end=903, anchor="m", title="")], 100)
    assert placed == {"m"}
    assert text.startswith("<i class=cut>… 875 more characters</i>")
    assert '<mark id=m title="">&lt;b&gt;</mark>' in text
    assert text.endswith("<i class=cut>… 25 more characters</i>")


def test_a_picture_is_asked_for_once_with_all_places_of_its_moment() -> None:
    asked: list[tuple[str, str | None, list[tuple[str, int, int, int]]]] = []

    def screens(observation: str, place: Place, marks: Sequence[ScreenMark]) -> Picture | None:
        asked.append((observation, place.marker, [(mark.id, mark.row, mark.first, mark.last) for mark in marks]))
        return pictures(observation, place, marks)

    proofs = Proofs("run", "o1")
    proofs.cite(cell(1, 1, 1), "corner", "o1r1")
    proofs.cite(cell(10, 8, 40), "row", "o1r2", finding=True)
    proofs.cite(cell(61), "below the screen", "o1r3")
    (screen,) = filled(proofs, screens=screens).screens
    assert asked == [("run", "card", [("o1p1", 1, 1, 1), ("o1p2", 10, 8, 40), ("o1p3", 61, 2, 5)])]
    assert [item.label for item in screen.drawn] == ["corner", "row"]
    assert [item.within for item in screen.listed] == ["row 61, columns 2-5"]
    assert screen.svg.count("<rect id=") == 2


def test_a_place_without_columns_is_listed_under_its_moment() -> None:
    proofs = Proofs("run", "o1")
    proofs.cite(Place(file="live.cast", marker="card"), "the card", "o1r1")
    (screen,) = filled(proofs, screens=pictures).screens
    assert [item.within for item in screen.listed] == ["the whole"]


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ("<script>1</script>", "a script element"),
        ("<foreignObject/>", "a foreignObject element"),
        ("<style>*{display:none}</style>", "a style element"),
        ("<image href='x.png'/>", "a image element"),
        ("<rect onclick='x()'/>", "an event handler"),
        ("<rect ONLOAD='x()'/>", "an event handler"),
        ("<use href='https://example.org/#a'/>", "it holds a use element"),
        ("<rect fill='url(https://example.org/x)'/>", "its fill attribute"),
        ("<rect style='position:fixed'/>", "its style attribute"),
        ("<!-- x -->", "a comment"),
        ("<rect>", "not well-formed"),
        ("</svg><svg>", "not well-formed"),
        ("<rect id='summary'/>", "it has an id of its own"),
        ("<rect href='#x'/>", "it holds a link"),
        ("<a xmlns='http://www.w3.org/1999/xhtml' href='#'/>", "element"),
    ],
)
def test_a_picture_that_could_do_more_than_be_seen_is_refused(inside: str, why: str) -> None:
    assert why in refusal(SVG.format(inside), {"o1p1"})
    proofs = Proofs("run", "o1")
    proofs.cite(cell(1), "A", "o1r1")

    def hostile(observation: str, place: Place, marks: Sequence[ScreenMark]) -> Picture:
        return Picture(svg=SVG.format(inside))

    (screen,) = filled(proofs, screens=hostile).screens
    assert screen.svg == ""
    assert "refused" in screen.note
    assert len(screen.listed) == 1


def test_a_drawing_is_accepted() -> None:
    picture = pictures("run", cell(1), (ScreenMark(id="o1p1", row=1, first=1, last=2),))
    assert picture is not None
    assert refusal(picture.svg, {"o1p1"}) == ""
    assert refusal(picture.svg, {"o1p2"}) == "it has an id of its own"
    styled = SVG.format("<g><text style='white-space:pre;unicode-bidi:bidi-override'>x</text></g>")
    assert refusal(styled, ()) == ""


def test_the_pictures_of_the_terminal_are_accepted() -> None:
    screen = Screen(40, 3)
    screen.feed(b"\x1b[31mred <script>\x1b[0m \xe2\x80\xae x\r\n\x07\x1b[1mbold")
    drawing = svg(screen.snapshot(), [TerminalMark(id="o1p1", row=1, first=1, last=3)], title="<a> & b")
    assert refusal(drawing, {"o1p1"}) == ""
    assert drawn(drawing, {"o1p1", "o1p2"}) == {"o1p1"}


def test_a_declaration_cannot_define_entities() -> None:
    assert refusal('<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format("&a;"), ()) != ""
