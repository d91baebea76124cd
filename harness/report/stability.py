"""What every report format says of repeated recordings: how many there were, and what did not come out alike."""

from __future__ import annotations

from harness.model.stability import Repeated, StabilityState, Variation
from harness.model.words import plural

ONCE = "Nothing says whether these runs come out alike a second time."


def runs_again(entry: Repeated) -> int:
    """Runs of which there is more than one recording."""
    return sum(len(set(manifests)) > 1 for manifests in entry.manifests.values())


def sentence(state: StabilityState) -> str:
    """One sentence on what the recordings showed, whatever it is worth here."""
    entry = state.repeated
    if entry is None:
        return ONCE
    return (
        f"{entry.recordings} recordings of {entry.release}, {plural(runs_again(entry), 'run')} in more than one: "
        f"{plural(entry.compared, 'fact')} on surfaces compared, {entry.not_compared:,} could not be; "
        f"{plural(len(entry.variations), 'thing')} varied, {state.declared:,} of them as their scenarios declare."
    )


def subject(item: Variation) -> str:
    """What varied, in a few words."""
    number = f" {item.ordinal + 1}" if item.ordinal else ""
    match item.what:
        case "fact":
            return f"{item.label}{number}"
        case "finding":
            return f"finding {item.detail}: {item.label}{number}" if item.label else f"finding {item.detail}"
        case "card":
            return f"the card's {item.detail}"
        case _:
            return f"the {item.what}"


def place(item: Variation) -> str:
    """Where it varied: run, card and surface."""
    return " ".join(part for part in (item.observation, item.card, item.surface) if part)
