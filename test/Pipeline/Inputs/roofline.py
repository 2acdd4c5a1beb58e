"""roofline.py JSON COUNT: compares `weft inspect --roofline --device=h200 --json` with counts by hand.

The program is a GPT-2 in f16: 2 layers of 32, 2 rows of 32 tokens. Each call of a kernel of GELU has COUNT instructions.
"""
import json
import sys

roofline, count = json.load(open(sys.argv[1]))["roofline"], float(sys.argv[2])


def equal(what, got, expected):
    if abs(got - expected) > 1e-9 * abs(expected):
        sys.exit(f"{what}: expects {expected}, but got {got}")


def rows(field, **wanted):
    return [row for row in roofline[field] if all(row[key] == value for key, value in wanted.items())]


# The product of the first layer's MLP: [64, 32] by [32, 128], and a bias; 790 TFLOP/s and 4.3 TB/s.
product = rows("commands", name="gemm 2x32x128 by 32 f16", scope="h.0.mlp", program="micro")[0]
equal("operations", product["flops"], 2 * 64 * 32 * 128)
equal("bytes", product["bytes"], 2 * (64 * 32 + 32 * 128 + 128 + 64 * 128))
equal("bound of arithmetic", product["compute_us"], product["flops"] / 790e6)
equal("bound of memory", product["memory_us"], product["bytes"] / 4.3e6)
equal("the bound", product["bound_us"], product["memory_us"])
assert product["limit"] == "memory" and product["issue_us"] is None and product["instructions"] is None, product

# GELU: one read, one write; 927 x 10^9 instructions a second.
gelu = rows("kinds", name="gelu 2x32x128 f16")[0]
equal("calls", gelu["calls"], 2)
equal("bytes", gelu["bytes"], 2 * 2 * (2 * 64 * 128))
equal("instructions", gelu["instructions"], 2 * count)
equal("bound of issue", gelu["issue_us"], 2 * count / 927e3)
assert gelu["limit"] == "issue", gelu

for field in ("kinds", "scopes"):
    for number in ("calls", "flops", "bytes", "compute_us", "memory_us", "bound_us"):
        equal(f"the sum of {number} over {field}", sum(row[number] for row in roofline[field]), roofline["total"][number])
equal("the sum of bounds", sum(row["bound_us"] for row in roofline["commands"]), roofline["total"]["bound_us"])
assert {row["program"] for row in roofline["commands"]} == {"micro", "apply"}
