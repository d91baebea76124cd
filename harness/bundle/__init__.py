"""A bundle is one original run in a folder: layout, writer, reader. The only stage besides `record` that does IO."""

from harness.bundle.reader import read_bundle
from harness.bundle.verified import Bundle
from harness.bundle.writer import write_bundle

__all__ = ["Bundle", "read_bundle", "write_bundle"]
