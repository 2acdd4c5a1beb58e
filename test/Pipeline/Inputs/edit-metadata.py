#!/usr/bin/env python3
"""Replaces text of the metadata of a program by another of the same length.

usage: edit-metadata.py PROGRAM OUT OLD NEW
"""
import sys

program, out, old, new = sys.argv[1:]
assert len(old) == len(new)
with open(program, "rb") as file:
    text = file.read()
assert text.count(old.encode()) > 0, old
with open(out, "wb") as file:
    file.write(text.replace(old.encode(), new.encode(), 1))
