"""Proof that the harness can fail: mutants of original runs, one thing changed in each, every one of them judged.

- `classes`: what can be changed, and which signals count as having noticed it
- `values`, `frames`, `screens`: other values of a fact; other bytes of a capture; other output on a screen
- `wire_facts`, `wire_cards`, `wire_order`, `screen_facts`, `records`, `members`, `authority`: the mutants themselves
- `saved_session`, `script_reports`, `batch_reports`, `nested_records`, `record_lines`, `child_sessions`: what `records`
  puts together
- `mutant`, `judging`, `subject`: one mutant, how it is judged, and the bundle with what its variants have in common
- `plan`, `attack`, `running`: which bundle gives which mutants, one bundle's work, and all of it on several processes

The result is written to a file of the evidence folder (`harness.selfcheck_file`), where a judgement reads it.
"""
