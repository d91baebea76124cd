"""A surface's capture to the facts that the surface published, each with its place.

``local_agent`` reads the frames of the local agent through `harness.wire`: the one edge from one stage to another,
since a frame is both an observation and an object of rules. Mission Control's screens are read by the other modules.
"""
