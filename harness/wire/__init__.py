"""Local-agent captures: bytes in, typed frames, broken wire rules and folded cards out. No IO.

- `capture`: the bytes of a capture file to its lines
- `strict`: JSON bytes to a typed value, and whatever they hold beyond its shape
- `shapes`, `events`: the members of cards and of events
- `frames`: one line's text to a typed frame
- `rules`: the wire rules as a table, from which checks and documentation are both made
- `breaches`: broken rules as they are found, each once, with its place and a count
- `content`, `factrows`: one snapshot of a card by itself, and its rows that state facts
- `order`: frames one after another: processes, requests and answers, runs and histories
- `runs`, `pages`, `relations`: the events of a run, the pages of a history, the parents and children in either
- `fold`: snapshots of a card, in any order, to the card
- `reading`: a whole capture through all of these
- `tree`: cards and their parents to where each stands
- `locate`: a JSON pointer to a byte offset
"""
