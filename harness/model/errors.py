"""Errors say who is to blame, where, and what to do; the command line turns the blame into an exit code of cli.md."""

from __future__ import annotations


class HarnessError(Exception):
    """Base of all errors that the command line reports without a traceback.

    `where` names the file, line, byte offset or field; `hint` the next thing to do.
    """

    exit_code = 70

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.hint})" if self.hint else text


class UsageError(HarnessError):
    """The caller asked for something that cannot be done as asked. Exit 2."""

    exit_code = 2


class EvidenceError(HarnessError):
    """The evidence is damaged, tampered with or not what it says. Exit 4. `reasons` lists everything found."""

    exit_code = 4

    def __init__(self, message: str, *, where: str = "", hint: str = "", reasons: tuple[str, ...] = ()) -> None:
        super().__init__(message, where=where, hint=hint)
        self.reasons = reasons or (message,)


class ProductError(HarnessError):
    """The product under test misbehaved while being driven, so that no bundle can be written. Exit 3."""

    exit_code = 3


class DecodeError(HarnessError):
    """Bytes that are not what their format says.

    `path` is a dotted path or JSON pointer to the bad field ("" for the whole), `offset` the 0-based byte offset in
    the decoded text, or None when the decoder gives none.
    """

    exit_code = 4

    def __init__(self, message: str, *, path: str = "", offset: int | None = None, where: str = "") -> None:
        at = [part for part in (where, path, None if offset is None else f"byte {offset}") if part]
        super().__init__(message, where=", ".join(at))
        self.path = path
        self.offset = offset
