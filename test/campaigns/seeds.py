"""The seeds of a campaign on its command line."""
import argparse


def seed_range(text):
    """The range FIRST:LAST, which is not empty."""
    first, colon, last = text.partition(":")
    if not (colon and first.isdecimal() and last.isdecimal() and int(first) < int(last)):
        raise argparse.ArgumentTypeError(f"expects FIRST:LAST with FIRST below LAST, but got {text}")
    return range(int(first), int(last))
