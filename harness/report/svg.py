"""Whether somebody else's SVG may stand in the page: drawing only, nothing that runs, loads, links out or restyles.

The page's content security policy forbids scripts and loads as well; this check is so that a picture cannot change or
cover the rest of the page either.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_ELEMENTS = frozenset(
    {"svg", "g", "rect", "text", "tspan", "path", "line", "circle", "ellipse", "polygon", "polyline", "title", "desc"}
)
_STYLES = re.compile(r"url\s*\(|@|\\|position|behavior|expression", re.IGNORECASE)
_MARKUP = re.compile(r"<[!?]")


def refusal(svg: str, ids: Collection[str]) -> str:
    """Why the text is not an acceptable picture, or "" when it is one ``<svg>`` element of drawing elements.

    `ids` are those that its elements may have, so that none can be mistaken for another part of the page.
    """
    if _MARKUP.search(svg):
        return "it holds a comment, a declaration or an instruction"
    try:
        root = ElementTree.fromstring(svg)  # noqa: S314 - no declaration gets this far, so no entity can be defined
    except (ElementTree.ParseError, ValueError) as error:
        return f"it is not well-formed: {error}"
    if root.tag.removeprefix(_SVG) != "svg":
        return "its root is not an svg element"
    return next((why for element in root.iter() if (why := _element(element, ids))), "")


def drawn(svg: str, ids: Collection[str]) -> frozenset[str]:
    """Which of the ids an accepted picture has."""
    return frozenset(found for found in re.findall(r'\bid="([^"]*)"', svg) if found in ids)


def _element(element: ElementTree.Element, ids: Collection[str]) -> str:
    name = element.tag.removeprefix(_SVG)
    if name not in _ELEMENTS:
        return f"it holds a {name} element"
    if element.get("id", "") not in ("", *ids):
        return "it has an id of its own"
    styled = _STYLES.search("\n".join(element.attrib.values())) is not None  # or of two together
    return next((why for name, value in element.attrib.items() if (why := _attribute(name, value, styled))), "")


def _attribute(name: str, value: str, styled: bool) -> str:
    """`styled`: the value of some attribute of the element may load or cover something."""
    if wrong := _name(name):
        return wrong
    return f"its {_local(name)} attribute may load or cover something" if styled and _STYLES.search(value) else ""


def _local(name: str) -> str:
    return name.rpartition("}")[2].lower()


@lru_cache(maxsize=256)
def _name(name: str) -> str:
    local = _local(name)
    if local.startswith("on"):
        return f"it holds an event handler ({local})"
    return "it holds a link" if local == "href" else ""
