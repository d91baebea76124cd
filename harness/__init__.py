"""Acceptance harness for the card facts of magi-code.

The flow, which is also the tree:

    scenario   Gherkin text               -> stimulus + expected facts
    record     stimulus + real product    -> a bundle (one original run)
    bundle     files                      -> verified bytes
    records    saved session bytes        -> typed records
    project    typed records              -> reference facts, derived in two independent ways
    wire       local-agent bytes          -> typed frames, ordering rules, folded cards
    observe    a surface's capture        -> the facts that the surface published
    compare    columns of facts           -> comparisons and findings
    judge      findings + authorization   -> verdict
    report     verdict                    -> report.html, report.md, verdict.json, junit.xml, ctrf.json
    selfcheck  bundles, mutated           -> proof that the harness can fail, which judge asks for

Judgements of several releases, held against each other (``compare.history``), become trends.html (``report.trends``).
``model`` holds the frozen values that cross those stages, ``spec`` the catalogues of facts and requirements.
Only ``record`` needs the product; everything else needs only a bundle.
"""

__version__ = "0.1.0"
