"""Plugins of the whole test run."""

pytest_plugins = ["harness.pytest_plugin"]
