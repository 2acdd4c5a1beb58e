"""memory_fit.py curve|activations: checks what weft inspect --json printed."""
import json
import sys

printed = json.load(sys.stdin)
if sys.argv[1] == "curve":
    curve = printed["tradeoff"]
    assert len(curve) > 10 and curve[0]["flags"] == "", curve
    for larger, smaller in zip(curve, curve[1:]):
        assert larger["limit"] > smaller["limit"] and larger["step_us"] < smaller["step_us"], (larger, smaller)
else:
    rows = printed["activations"]
    policies = {row["policy"] for row in rows}
    assert policies == {"kept", "recompute"}, policies
    assert all(row["bytes"] > 0 and row["count"] > 0 for row in rows), rows
    # Results of a block, and values outside of all blocks, are kept.
    assert all(row["policy"] == "kept" for row in rows if not row["scope"].startswith("h.*")), rows
    assert [row["count"] for row in rows if row["op"] == "add" and row["scope"] == "h.*" and row["policy"] == "kept"] == [4], rows
