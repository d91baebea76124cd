"""Frozen values that cross stages. Imports nothing of the project but itself."""
