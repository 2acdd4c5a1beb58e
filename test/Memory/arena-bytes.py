"""Whether the arena of a program is no larger than it may be.

Usage: arena-bytes.py REPORT.json MOST
"""
import json
import sys

arena, most = json.load(open(sys.argv[1]))["memory"]["arena_bytes"], int(sys.argv[2])
print(f"{arena} of {most}")
sys.exit(arena > most)
