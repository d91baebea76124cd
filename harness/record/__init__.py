"""Drives the real product over one stimulus, on both surfaces, and hands back the raw captures of that one run.

Everything that touches a process, a terminal or a folder of the product is here; nothing here judges what it sees.
"""
