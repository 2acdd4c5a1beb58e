"""Compares the loss of a model with its rows.

Usage: sum-of-rows.py < FILE, with the printed outputs of both
"""

import re
import sys

text = sys.stdin.read()


def numbers(name):
    return [float(x) for x in re.search(rf"{name} = \[?([^\]:\n]*)", text)[1].split(",")]


loss, = numbers("loss")
rows, tokens = numbers("log_likelihood"), numbers("tokens")
mean = -sum(rows) / sum(tokens)
if abs(mean - loss) > 1e-5 * abs(loss) or len(rows) != 2 or sum(tokens) != 8:
    sys.exit(f"the loss is {loss}, the rows give {mean}:\n{text}")
