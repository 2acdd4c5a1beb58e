"""Sums of lower bounds of the commands of a step (weft inspect --roofline --json)."""

# Commands that are no memory-bound kernels.
COMPUTE = ("gemm", "attention", "attention_grad")


def summarise(roofline):
    """Sums over the commands of a step: bytes, and milliseconds of the largest bounds."""
    commands = roofline["commands"]
    by_bound = {"compute": 0.0, "memory": 0.0, "issue": 0.0}
    for command in commands:
        by_bound[command["limit"]] += command["bound_us"] / 1e3
    outside = [command for command in commands if command["generated"] or command["symbol"] not in COMPUTE]
    return {"commands": len(commands), "bytes_outside": sum(command["bytes"] for command in outside),
            "bound_ms": sum(by_bound.values()), "by_bound_ms": by_bound}
