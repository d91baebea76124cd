"""The command line: arguments, the clock, progress and exit codes. The only place that knows all stages."""
