"""What card-facts.md says, as data: the fact catalogue, the requirement catalogue and the bounds.

Imports nothing of the project but `harness.model`.
"""
