"""The rows of a sweep as a table: Parquet or DuckDB by DuckDB, or JSON lines, written whole or not at all.

DuckDB is one wheel without dependencies, a third of Arrow's, and writes both formats from a stream of JSON lines in
bounded memory.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Final

import msgspec

from harness.model.errors import HarnessError, UsageError
from harness.sweep.rows import Row, Summary

SUFFIXES: Final = (".parquet", ".duckdb", ".jsonl")

_COUNTS: Final = "STRUCT(agree UBIGINT, disagree UBIGINT, not_comparable UBIGINT)"
_PLACE: Final = 'STRUCT(file VARCHAR, line UBIGINT, "offset" UBIGINT, pointer VARCHAR)'
_FINDING: Final = (
    "STRUCT(id VARCHAR, kind VARCHAR, requirement VARCHAR, observation VARCHAR, surface VARCHAR, card VARCHAR, "
    f"label VARCHAR, ordinal UBIGINT, expected VARCHAR, observed VARCHAR, place {_PLACE}, command VARCHAR)"
)
_COLUMNS: Final = {
    "archive": "VARCHAR",
    "session": "VARCHAR",
    "digest": "VARCHAR",
    "status": "VARCHAR",
    "synthetic": "BOOLEAN",
    "bytes": "UBIGINT",
    "children": "UBIGINT",
    "cards": "UBIGINT",
    "derivations": _COUNTS,
    "reopening": "VARCHAR",
    "surface": _COUNTS,
    "finding_count": "UBIGINT",
    "findings": f"{_FINDING}[]",
}
_FINDINGS: Final = "CREATE VIEW findings AS SELECT archive, session, unnest(findings, recursive := true) FROM sessions"
_MEMORY: Final = "512MB"
_OBJECT_BYTES: Final = 32 << 20
"""Longest row: `FINDINGS_KEPT` findings, whose texts have at most `TEXT_CHARACTERS`, six bytes each at worst."""


def json_line(value: Row | Summary) -> bytes:
    """One line of JSON: a row as it is, the summary as the only member of an object."""
    return msgspec.json.encode({"summary": value} if isinstance(value, Summary) else value) + b"\n"


def check(path: Path) -> None:
    """Raises UsageError when no table can be written to `path`, before anything is read."""
    if path.suffix not in SUFFIXES:
        raise UsageError("is no table that can be written", where=str(path), hint=f"end it in {', '.join(SUFFIXES)}")
    if path.is_dir():
        raise UsageError("is a folder", where=str(path))
    if path.suffix != ".jsonl":
        try:
            import duckdb  # noqa: F401, PLC0415 # optional
        except ImportError as error:
            raise UsageError(
                f"{path.suffix} needs DuckDB, which is not installed",
                hint="install the extra card-acceptance-harness[table], or write .jsonl",
            ) from error


class Table:
    """A table in the making. As a context manager: nothing is left of it unless `finish` was called."""

    def __init__(self, path: Path) -> None:
        check(path)
        self._path = path
        self._lines = path.with_name(f".{path.name}.{os.getpid()}.jsonl")
        self._made = path.with_name(f".{path.name}.{os.getpid()}{path.suffix}")
        self._stream: IO[bytes] | None = None

    def __enter__(self) -> Table:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self._lines.open("wb")
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._stream is not None:
            self._stream.close()
        self._lines.unlink(missing_ok=True)
        self._made.unlink(missing_ok=True)

    def add(self, row: Row) -> None:
        if self._stream is None:
            raise HarnessError("a table was written outside of its context")
        self._stream.write(json_line(row))

    def finish(self, summary: Summary) -> None:
        """Puts the table into its place, instead of what was there."""
        if self._stream is None:
            raise HarnessError("a table was finished outside of its context")
        if self._path.suffix == ".jsonl":
            self._stream.write(json_line(summary))
            self._stream.close()
            self._lines.replace(self._path)
            return
        self._stream.close()
        _write(self._path.suffix, self._lines, self._made, summary)
        self._made.replace(self._path)


def _select(lines: Path) -> str:
    columns = ", ".join(f"'{name}': '{type_}'" for name, type_ in _COLUMNS.items())
    return (
        f"SELECT * FROM read_json({_quoted(lines)}, format = 'newline_delimited', columns = {{{columns}}}, "  # noqa: S608 # our own columns, a quoted path
        f"maximum_object_size = {_OBJECT_BYTES})"
    )


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _write(suffix: str, lines: Path, made: Path, summary: Summary) -> None:
    import duckdb  # noqa: PLC0415

    settings: dict[str, str | bool | int | float | list[str]] = {"memory_limit": _MEMORY, "threads": 1}
    try:
        with duckdb.connect(":memory:" if suffix == ".parquet" else str(made), config=settings) as store:
            if suffix == ".parquet":
                store.execute(f"COPY ({_select(lines)}) TO {_quoted(made)} (FORMAT parquet, COMPRESSION zstd)")
                return
            store.execute(f"CREATE TABLE sessions AS {_select(lines)}")
            store.execute(_FINDINGS)
            store.execute("CREATE TABLE summary (summary JSON)")
            store.execute("INSERT INTO summary VALUES (?)", [msgspec.json.encode(summary).decode()])
    except duckdb.Error as error:
        raise HarnessError(f"the table cannot be written: {str(error).splitlines()[0]}", where=str(made)) from error
