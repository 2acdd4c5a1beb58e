"""Lower bounds of the time of each command of a compiled program on a device.

A command takes at least its arithmetic over the device's rate for it, its
memory traffic over the bandwidth of the device, and the instructions of its
warps over the rate at which the device issues them. The traffic is every operand of
the command once; an operand that it reads and writes counts twice.
"""

# Rates of one H200: measured rates of its products and of attention in f16,
# TFLOP/s, the copy bandwidth of its memory, TB/s, and 132 processors that issue
# 4 instructions of warps a cycle at 1.755 GHz, in 10^9 a second.
DEVICES = {
    "h200": {"tflops": {"gemm": 790, "attention": 290, "attention_grad": 210},
             "terabytes": 4.3, "issue": 927},
}

# Programs of a step with one micro-batch.
STEP = ("micro", "apply")

# Commands that are no memory-bound kernels.
COMPUTE = ("gemm", "attention", "attention_grad")


def commands_of(meta):
    """The commands of a step, from the metadata of a program (weft inspect --json)."""
    rows = []
    for program in STEP:
        for fields in meta["schedule"][program]:
            symbol, scope, _, generated, name, flops, size = fields[:7]
            kind = "kernel" if generated else symbol
            rows.append({"program": program, "symbol": symbol, "scope": scope, "kind": kind,
                         "name": name, "flops": flops, "bytes": size})
    return rows


def bounds_of(command, device, instructions):
    """Microseconds of each bound of a command; those that are not known are left out.

    instructions: instructions of warps that one call of a kernel issues, by its symbol.
    """
    rates = DEVICES[device]
    bounds = {"memory": command["bytes"] / (rates["terabytes"] * 1e6)}
    if command["kind"] in rates["tflops"]:
        bounds["compute"] = command["flops"] / (rates["tflops"][command["kind"]] * 1e6)
    if instructions.get(command["symbol"]) is not None:
        bounds["issue"] = instructions[command["symbol"]] / (rates["issue"] * 1e3)
    return bounds


def summarise(commands, device, instructions):
    """Sums over the commands of a step: bytes, and milliseconds of the largest bounds."""
    sums = {"commands": len(commands), "bytes_outside": 0, "bound_ms": 0.0,
            "by_bound_ms": {"compute": 0.0, "memory": 0.0, "issue": 0.0}}
    for command in commands:
        bounds = bounds_of(command, device, instructions)
        limit = max(bounds, key=bounds.get)
        sums["bound_ms"] += bounds[limit] / 1e3
        sums["by_bound_ms"][limit] += bounds[limit] / 1e3
        if command["kind"] not in COMPUTE:
            sums["bytes_outside"] += command["bytes"]
    return sums


def largest(commands, device, instructions, count):
    """The `count` names of commands with the largest sums of bounds, in decreasing order."""
    names = {}
    for command in commands:
        bounds = bounds_of(command, device, instructions)
        row = names.setdefault((command["symbol"], command["name"]),
                               {"name": command["name"], "symbol": command["symbol"], "calls": 0,
                                "bytes": 0, "bound_ms": 0.0})
        row["calls"] += 1
        row["bytes"] += command["bytes"]
        row["bound_ms"] += max(bounds.values()) / 1e3
        row["limit"] = max(bounds, key=bounds.get)
    return sorted(names.values(), key=lambda row: -row["bound_ms"])[:count]
