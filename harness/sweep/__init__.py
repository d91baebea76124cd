"""Agreement over whole archives of saved sessions: what users already have, read by a release that is to come.

    archives   folders, tars and zips      -> members, each read whole and bounded, never unpacked by name
    catalogue  members                     -> an index on disk, so that memory does not grow with the archive
    units      catalogue                   -> one unit a session: its bytes and those of its child sessions
    work       unit (+ candidate)          -> one row: counts of comparisons, and the findings of acceptance
    spread     units                       -> rows in the order of units, over processes here or a Dask cluster
    state      rows by digest              -> a stopped sweep goes on where it was
    table      rows                        -> Parquet, DuckDB or JSON lines

A joint of the stages, like `harness.acceptance`: it composes them and judges no release. A saved session without an
original capture is no evidence, so a sweep never accepts anything.
"""
