"""Every scenario as a test: its tables against the bundled original runs."""

from pytest_bdd import scenarios

scenarios(".")
