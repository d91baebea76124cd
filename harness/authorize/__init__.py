"""Whether somebody else's signature makes an original run count: keys, statements, envelopes, trust policy.

Pure: bytes and a time in, a decision with its reason out. Files are read and written by the command line.
"""
