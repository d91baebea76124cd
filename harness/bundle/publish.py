"""Making a finished folder appear at once: at every instant its name shows the older one, or the new one, whole.

The new folder is filled under a hidden name beside its place and then exchanged with the older one in one step of the
system. Where the system has no such step the older one is set aside under another hidden name for an instant; a
writer that is killed in that very instant leaves it there, and the next writer puts it back.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.model.errors import UsageError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
"""renameat2(2) and <linux/fs.h>. No module of the standard library knows this call."""

_NOT_SUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def exchange(first: Path, second: Path) -> bool:
    """Let two folders of one file system swap their names in one step; False when this system cannot.

    Raises OSError when it can and did not.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_SUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(first), None, str(second))


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Wait until no other writer works in `folder`. The system ends the lock of a writer that is killed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class _Places:
    """The three names of one bundle: its own, the one it is filled under, the one an older one is set aside under."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.staging = folder.with_name(f".{folder.name}.partial")
        self.aside = folder.with_name(f".{folder.name}.replaced")

    def tidy(self) -> None:
        """Remove what a killed writer left; put an older bundle back that it had set aside."""
        shutil.rmtree(self.staging, ignore_errors=True)
        if self.aside.exists():
            # Never delete under the name from which things are put back: half a bundle could return from there.
            self.aside.rename(self.staging if self.folder.exists() else self.folder)
            shutil.rmtree(self.staging, ignore_errors=True)

    def publish(self) -> None:
        """Let the filled folder and the older one, if there is one, swap their names."""
        if not self.folder.exists():
            self.staging.rename(self.folder)
        elif not exchange(self.staging, self.folder):
            self.folder.rename(self.aside)
            self.staging.rename(self.folder)
            self.aside.rename(self.staging)

    def undo(self, *, published: bool) -> None:
        """Let the name show again what it showed before, whichever step was reached."""
        if self.aside.exists():
            if self.folder.exists():
                self.folder.rename(self.staging)
            self.aside.rename(self.folder)
        elif published and self.staging.exists():
            self.publish()
        elif published:
            self.folder.rename(self.staging)
        shutil.rmtree(self.staging, ignore_errors=True)


@contextmanager
def staged(folder: Path, *, replace: bool) -> Iterator[Path]:
    """An empty hidden folder to fill; when the block ends it becomes `folder`, durable and at once.

    Raises UsageError when something is there that must not be replaced. After any exception, also one of the block's
    own, `folder` is what it was before and nothing else is left.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    places = _Places(folder)
    with _alone_in(folder.parent):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise UsageError("something else than a bundle is there", where=str(folder), hint="move it away")
        places.tidy()
        if folder.exists() and not replace:
            raise UsageError("a bundle is already there", where=str(folder), hint="use --replace to record it anew")
        published = False
        try:
            places.staging.mkdir()
            yield places.staging
            for below in places.staging.iterdir():
                if below.is_dir():
                    sync_folder(below)
            sync_folder(places.staging)
            places.publish()
            published = True
            sync_folder(folder.parent)
        except BaseException:
            places.undo(published=published)
            raise
        shutil.rmtree(places.staging, ignore_errors=True)
