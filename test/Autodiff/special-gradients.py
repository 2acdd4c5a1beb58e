"""Gradients at NaN, at ties and beside overflow, from the interpreter and from an executable.

The numbers are those of PyTorch 2 (derivatives.yaml, torch.amax for reduce) unless PyTorch's own formula
overflows on the way, where they are the derivative. Usage: special-gradients.py WORK
"""
import json
import math
import pathlib
import struct
import subprocess
import sys

NAN, INF = math.nan, math.inf

# name: (op of %a and %b, gradient of the op's result, {operand: (values, gradients)})
CASES = {
    "div": ("weft.div %a, %b : T, T", 1, {
        "a": ([0, 1, 3e38, 0], [INF, 0.5, 1 / 3e38, -INF]),
        "b": ([1e-40, 2, 3e38, -1e-40], [-0.0, -0.25, -1 / 3e38, -0.0])}),
    "sqrt": ("weft.sqrt %a : T", 1, {"a": ([4, 2 ** -132, 0], [0.25, 2 ** 65, INF])}),
    "log": ("weft.log %a : T", 1e-10, {"a": ([2 ** -132, 2, 0], [1e-10 * 2 ** 132, 5e-11, INF])}),
    "rsqrt": ("weft.rsqrt %a : T", 1e-10, {"a": ([1e-26, 4], [-5e28, -6.25e-12])}),
    "reciprocal": ("weft.reciprocal %a : T", 1e-10, {"a": ([1e-20, 2], [-1e30, -2.5e-11])}),
    "max": ("weft.max %a, %b : T, T", 1, {
        "a": ([NAN, 1, 1, 2, NAN, -0.0], [1, 1, 0.5, 1, 1, 0.5]),
        "b": ([1, NAN, 1, 1, NAN, 0.0], [1, 1, 0.5, 0, 1, 0.5])}),
    "min": ("weft.min %a, %b : T, T", 1, {
        "a": ([NAN, 1, 1, 2, NAN], [1, 1, 0.5, 0, 1]),
        "b": ([1, NAN, 1, 1, NAN], [1, 1, 0.5, 1, 1])}),
    "abs": ("weft.abs %a : T", 1, {"a": ([NAN, -2, 0, -0.0, 3, INF, -INF], [0, -1, 0, 0, 1, 1, -1])}),
    "relu": ("weft.relu %a : T", 1, {"a": ([NAN, -1, 0, 2], [1, 0, 0, 1])}),
    "silu": ("weft.silu %a : T", 1, {"a": ([100, -200, 3e38, -3e38, NAN], [1, 0, 1, 0, NAN])}),
    "softplus": ("weft.softplus %a : T", 1, {"a": ([1000, -1000, 3e38, NAN], [1, 0, 1, NAN])}),
    "gelu": ("weft.gelu %a : T", 1, {"a": ([1e25, -1e25, 3e38, NAN], [1, 0, 1, NAN])}),
    "gelu_tanh": ("weft.gelu %a {approximate = #weft.gelu_kind<tanh>} : T", 1, {
        "a": ([1e25, -1e25, 3e38, -3e38, 150, NAN], [1, 0, 1, 0, 1, NAN])}),
    "pow": ("weft.pow %a, %b : T, T", 1, {
        "a": ([0, 0, 2], [0, 0, 0.5 * 2 ** -0.5]),
        "b": ([2, 0, 0.5], [0, 0, 2 ** 0.5 * math.log(2)])}),
    "amax": ("weft.reduce max %a dims [1] {keep_dims} : T", 1, {
        "a": ([NAN, 1, 2, 2, 1, 3], [NAN, NAN, 0.5, 0.5, 0, 1])}),
    "amin": ("weft.reduce min %a dims [1] {keep_dims} : T", 1, {
        "a": ([1, NAN, 2, 2, 1, 3], [NAN, NAN, 0.5, 0.5, 1, 0])}),
}


def model(names):
    params, body, total = [], [], "%start"
    for name in names:
        op, factor, operands = CASES[name]
        count = len(operands["a"][0])
        shape = f"{count // 2}x2" if name in ("amax", "amin") else str(count)
        result = f"{count // 2}x1" if name in ("amax", "amin") else shape
        dims = "0, 1" if name in ("amax", "amin") else "0"
        for operand in operands:
            params.append(f"  weft.param @{name}.{operand} : tensor<{shape}xf32> {{init = #weft.init<zeros>}}")
            body.append(f"    %{name}_{operand} = weft.read @{name}.{operand} : tensor<{shape}xf32>")
            op = op.replace(f"%{operand}", f"%{name}_{operand}")
        body += [
            f"    %{name}_y = {op.replace('T', f'tensor<{shape}xf32>')}",
            f"    %{name}_s = weft.reduce sum %{name}_y dims [{dims}] : tensor<{result}xf32>",
            f"    %{name}_f = weft.constant dense<{factor:e}> : tensor<f32>",
            f"    %{name}_w = weft.mul %{name}_s, %{name}_f : tensor<f32>, tensor<f32>",
            f"    %{name}_t = weft.add {total}, %{name}_w : tensor<f32>, tensor<f32>"]
        total = f"%{name}_t"
    head = ("  weft.program @model(%x: tensor<1xf32> {weft.input = \"x\"}) -> (tensor<f32> {weft.output = \"loss\"})"
            " attributes {kind = #weft.kind<model>} {\n    %start = weft.reduce sum %x dims [0] : tensor<1xf32>")
    tail = f"    weft.return {total} : tensor<f32>\n  }}"
    return "\n".join(["module {", *params, head, *body, tail, "}", ""])


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    tensors = {}
    for name, entry in json.loads(raw[8:8 + size]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name] = struct.unpack(f"<{(end - begin) // 4}f", raw[begin:end])
    return tensors


def single(number):
    """Rounded to f32; too large is infinite."""
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.copysign(INF, number)


def agrees(got, want):
    if math.isnan(want) or math.isinf(want):
        return got == want or (math.isnan(got) and math.isnan(want))
    if want == 0 and math.copysign(1, want) < 0:
        return got == 0 and math.copysign(1, got) < 0
    return abs(got - want) <= 1e-6 * abs(want) + 1e-44


def check(where, names, grads, suffix):
    wrong = []
    for name in names:
        for operand, (values, wanted) in CASES[name][2].items():
            got = grads[f"{name}.{operand}{suffix}"]
            wrong += [f"{name}.{operand} at {value}: expects {want}, but got {number}"
                      for value, want, number in zip(values, wanted, got) if not agrees(number, single(want))]
    if wrong:
        sys.exit("\n".join([f"gradients of the {where}:", *wrong]))


def weights_of(names):
    weights = {}
    for name in names:
        for part, (numbers, _) in CASES[name][2].items():
            size = len(numbers)
            weights[f"{name}.{part}"] = ([size // 2, 2] if name in ("amax", "amin") else [size], numbers)
    return weights


def run(work, names):
    work.mkdir(parents=True)
    (work / "model.mlir").write_text(model(names))
    write_tensors(work / "weights.safetensors", weights_of(names))
    write_tensors(work / "data.safetensors", {"x": ([1], [1.0])})
    subprocess.run(["weft", "compile", work / "model.mlir", "--to=autodiff", "-o", work / "autodiff.mlir"], check=True)
    subprocess.run(["weft-interp", work / "autodiff.mlir", "--program=micro", "--mode=f32", "--print=off",
                    "--state", work / "weights.safetensors", "--inputs", work / "data.safetensors",
                    "--set=loss_seed=1", "--set=accumulate=0", "--save-state", work / "state.safetensors"], check=True)
    check("interpreter", names, read_tensors(work / "state.safetensors"), ".grad")
    subprocess.run(["weft", "compile", work / "model.mlir", "-o", work / "program"], check=True)
    ended = subprocess.run([work / "program", "--data", work / "data.safetensors", "--steps", "1",
                            "--progress", "none", "--threads", "1", "--init-from", work / "weights.safetensors",
                            "--dump-grads", work / "grads.safetensors"], capture_output=True, text=True)
    # A gradient that is not finite ends the run, after it was written.
    assert ended.returncode in (0, 6), (ended.returncode, ended.stderr)
    check("executable", names, read_tensors(work / "grads.safetensors"), "")


for case in CASES:
    run(pathlib.Path(sys.argv[1]) / case, [case])
print(f"{len(CASES)} ops have the gradients of PyTorch")
