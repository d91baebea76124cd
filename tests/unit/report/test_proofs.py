"""Places and the evidence beside them: every place has an anchor, and nothing is left out without a word."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from harness.model.facts import Place
from harness.report.inputs import Excerpt, Picture
from harness.report.marks import Mark, marked
from harness.report.proofs import Budget, Proofs
from harness.report.svg import refusal
from tests.support.suppliers import CELL_HEIGHT, CELL_WIDTH, pictures

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 16">{}</svg>'


def line(offset: int, number: int = 3) -> Place:
    return Place(file="live.jsonl", line=number, offset=offset)


def cell(row: int, first: int = 2, last: int = 5) -> Place:
    return Place(file="live.cast", marker="card", row=row, columns=(first, last))


def nothing(observation: str, place: object) -> None:
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


def test_boxes_stand_on_their_cells() -> None:
    proofs = Proofs("run", "o1")
    proofs.cite(cell(1, 1, 1), "corner", "o1r1")
    proofs.cite(cell(10, 8, 40), "row", "o1r2")
    proofs.cite(cell(61), "below", "o1r3")
    (screen,) = filled(proofs, screens=pictures).screens
    assert [(box.x, box.y, box.width, box.height) for box in screen.boxes] == [
        (0, 0, CELL_WIDTH, CELL_HEIGHT),
        (7 * CELL_WIDTH, 9 * CELL_HEIGHT, 33 * CELL_WIDTH, CELL_HEIGHT),
    ]
    assert [item.label for item in screen.listed] == ["below"]


def test_a_picture_of_some_rows_counts_from_its_first_row() -> None:
    def cropped(observation: str, marker: str) -> Picture:
        return Picture(
            svg=SVG.format(""),
            width=80,
            height=34,
            cell_width=8,
            cell_height=16,
            columns=10,
            rows=2,
            top=2,
            first_row=40,
        )

    proofs = Proofs("run", "o1")
    proofs.cite(cell(41), "second", "o1r1")
    proofs.cite(cell(39), "above", "o1r2")
    (screen,) = filled(proofs, screens=cropped).screens
    assert [(box.y, box.cited.label) for box in screen.boxes] == [(18, "second")]
    assert [item.within for item in screen.listed] == ["row 39, columns 2-5"]


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ("<script>1</script>", "a script element"),
        ("<foreignObject/>", "a foreignObject element"),
        ("<style>*{display:none}</style>", "a style element"),
        ("<image href='x.png'/>", "a image element"),
        ("<rect onclick='x()'/>", "an event handler"),
        ("<rect ONLOAD='x()'/>", "an event handler"),
        ("<use href='https://example.org/#a'/>", "a link to something outside"),
        ("<rect fill='url(https://example.org/x)'/>", "its fill attribute"),
        ("<rect style='position:fixed'/>", "its style attribute"),
        ("<!-- x -->", "a comment"),
        ("<rect>", "not well-formed"),
        ("</svg><svg>", "not well-formed"),
        ("<a xmlns='http://www.w3.org/1999/xhtml' href='#'/>", "element"),
    ],
)
def test_a_picture_that_could_do_more_than_be_seen_is_refused(inside: str, why: str) -> None:
    assert why in refusal(SVG.format(inside))
    proofs = Proofs("run", "o1")
    proofs.cite(cell(1), "A", "o1r1")

    def hostile(observation: str, marker: str) -> Picture:
        return Picture(svg=SVG.format(inside), width=8, height=16, cell_width=8, cell_height=16, columns=1, rows=1)

    (screen,) = filled(proofs, screens=hostile).screens
    assert screen.picture is None
    assert screen.svg == ""
    assert "refused" in screen.note
    assert len(screen.listed) == 1


def test_a_drawing_is_accepted() -> None:
    picture = pictures("run", "card")
    assert picture is not None
    assert refusal(picture.svg) == ""
    assert refusal(SVG.format("<defs><clipPath id='c'/></defs><g clip-path='url(#c)'><use href='#c'/></g>")) == ""


def test_a_declaration_cannot_define_entities() -> None:
    assert refusal('<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format("&a;")) != ""
