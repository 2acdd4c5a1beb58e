"""step_bounds.py SOURCE JSON: compares counts of test/bench/roofline with counts by hand."""
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

# Two products, attention and a kernel, with rates of h200: 790 and 290 TFLOP/s, 4.3 TB/s, 927 G instructions a second.
meta = {"schedule": {"micro": [
    ["gemm", "h.0", 1.0, False, "gemm", 7.9e12, 4.3e9],        # 10 ms of arithmetic, 1 ms of traffic
    ["gemm", "h.1", 1.0, False, "gemm", 7.9e11, 8.6e9],        # 1 ms, 2 ms
    ["attention", "h.0", 1.0, False, "attention", 2.9e11, 1],  # 1 ms
    ["k_1", "h.0", 1.0, True, "gelu", 1e12, 4.3e9]],           # 1 ms of traffic, 3 ms to issue
    "apply": [["k_2", "", 1.0, True, "adamw", 1.0, 8.6e9]]}}   # 2 ms
sums = bounds.summarise(bounds.commands_of(meta), "h200", {"k_1": 2781e6})
equal("commands", sums["commands"], 5)
equal("bytes outside", sums["bytes_outside"], 12.9e9)
equal("sum of bounds", sums["bound_ms"], 10 + 2 + 1 + 3 + 2)
equal("bounds of memory", sums["by_bound_ms"]["memory"], 4)
equal("bounds of issue", sums["by_bound_ms"]["issue"], 3)
first = bounds.largest(bounds.commands_of(meta), "h200", {}, 1)[0]
equal("the largest name", first["bound_ms"], 12)
