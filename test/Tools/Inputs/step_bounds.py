"""step_bounds.py SOURCE JSON: compares sums of test/bench/roofline with sums by hand."""
import json
import sys

sys.path.insert(0, sys.argv[1] + "/test/bench/roofline")

import bounds  # noqa: E402


def equal(what, got, expected):
    if abs(got - expected) > 1e-9 * abs(expected):
        sys.exit(f"{what}: expects {expected}, but got {got}")


rows = json.load(open(sys.argv[2]))
gelu = [row for row in rows["amp"]["largest"] if row["name"].startswith("gelu 2x32x128")]
equal("calls of GELU", sum(row["calls"] for row in gelu), 2)
equal("bytes of GELU", sum(row["bytes"] for row in gelu), 2 * 2 * (2 * 32 * 128) * 2)

sums = bounds.summarise({"commands": [
    {"symbol": "gemm", "generated": False, "bytes": 5, "bound_us": 1000, "limit": "compute"},
    {"symbol": "attention", "generated": False, "bytes": 6, "bound_us": 500, "limit": "compute"},
    {"symbol": "copy", "generated": False, "bytes": 7, "bound_us": 250, "limit": "memory"},
    {"symbol": "k_1", "generated": True, "bytes": 8, "bound_us": 125, "limit": "issue"}]})
equal("commands", sums["commands"], 4)
equal("bytes outside", sums["bytes_outside"], 15)
equal("sum of bounds", sums["bound_ms"], 1.875)
equal("bounds of arithmetic", sums["by_bound_ms"]["compute"], 1.5)
equal("bounds of issue", sums["by_bound_ms"]["issue"], 0.125)
