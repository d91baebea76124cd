"""Gherkin text in, scenarios out: the stimulus that a run needs and the facts that its author worked out by hand."""
