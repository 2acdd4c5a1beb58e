"""Text of MLIR, as campaigns read and change it."""
import re

# The beginning of an error with a location, in weft-opt and in weft.
PLACE = re.compile(r"^\S+\.mlir:\d+:\d+: error: |^weft: error: \S+\.mlir:\d+: ", re.M)


def split(text):
    """At the commas outside of all brackets."""
    parts, depth, quoted = [""], 0, False
    for i, c in enumerate(text):
        quoted ^= c == '"' and text[i - 1] != "\\"
        if not quoted:
            depth += (c in "([{<") - (c in ")]}" or (c == ">" and text[i - 1] != "-"))
        if c == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]
