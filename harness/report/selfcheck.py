"""What every report format says of the harness's own proof: the kill rate, and the kill matrix by class of mutants."""

from __future__ import annotations

from harness.model.selfcheck import MutantClass, Selfcheck, SelfcheckState

NO_PROOF = "There is no proof that the harness would notice what is wrong."


def kill_rate(caught: int, survivors: int) -> str:
    """Caught mutants out of those that something must notice, in percent; 100 only when every one was caught."""
    must = caught + survivors
    if not must:
        return "nothing to catch"
    tenths = 1000 * caught // must
    return f"{tenths // 10} %" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10} %"


def sentence(state: SelfcheckState) -> str:
    """One sentence that says how the proof went, whatever it is worth here."""
    result = state.result
    if result is None:
        return NO_PROOF
    released = " and ".join(item.release for item in result.measured)
    return (
        f"{result.mutants:,} mutants of original runs of {released}, each judged by itself: "
        f"{result.caught:,} caught, {result.equivalent:,} that nothing should notice, "
        f"{len(result.survivors):,} survived; kill rate {kill_rate(result.caught, len(result.survivors))}."
    )


def rate_of(row: MutantClass) -> str:
    """The kill rate of one class; a harmless one is to be left alone."""
    return "left alone" if row.harmless and not row.survivors else kill_rate(row.caught, row.survivors)


def alone(row: MutantClass) -> int:
    """Mutants of the class that nothing should notice."""
    return sum(item.mutants for item in row.equivalent)


def reasons(result: Selfcheck) -> tuple[tuple[str, int], ...]:
    """Why mutants are equivalent, with their number, most first."""
    counts: dict[str, int] = {}
    for row in result.classes:
        for item in row.equivalent:
            counts[item.reason] = counts.get(item.reason, 0) + item.mutants
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
