"""op_docs.py DOCS OUT: the examples of generated op docs as one module.

DOCS is what `mlir-tblgen -gen-dialect-doc` writes. Each op has an example: one
line after "Example:" in backquotes, or a ```mlir block. Single ops are put into
a program whose inputs are the operands, with the types that the example prints;
the result is a file for `weft-opt -split-input-file`. An op without example is
an error.
"""
import re
import sys

DECLARATIONS = {"weft.param", "weft.state", "weft.program", "weft.kernel", "weft.kernel_group", "dist.mesh",
                "plan.state", "plan.program", "plan.event"}
# Declarations that the examples of single ops refer to.
SYMBOLS = {
    "weft.state": "weft.param @fc1.weight : tensor<128x64xf32>\n",
    "weft.read": "weft.param @fc1.weight : tensor<128x64xf32>\n",
    "weft.return": "weft.param @w : tensor<4xf32>\n"
                   "weft.state @w.grad : tensor<4xf32> "
                   "{kind = #weft.state_kind<gradient>, param = @w}\n",
    "weft.call": "weft.kernel @k_1f(%x: tensor<4xf32>) -> tensor<4xf32> "
                 "elementwise [4] inplace [[]] {\n"
                 "  weft.yield %x : tensor<4xf32>\n}\n",
    "weft.kernel_group": "weft.kernel @k_1f(%x: tensor<16x8xf32>) -> tensor<8xf32> "
                         "columns [16, 8] over [0] inplace [[]] {\n"
                         "  %y = weft.reduce sum %x dims [0] : tensor<16x8xf32>\n"
                         "  weft.yield %y : tensor<8xf32>\n}\n",
    "dist.all_gather": 'dist.mesh @mesh("dp" = 4)\n',
    "dist.all_reduce": 'dist.mesh @mesh("dp" = 4)\n',
    "dist.reduce_scatter": 'dist.mesh @mesh("dp" = 4)\n',
    "dist.own_slice": 'dist.mesh @mesh("dp" = 4)\n',
    "dist.rank": 'dist.mesh @mesh("replica" = 2, "shard" = 2)\n',
    "plan.use": "plan.state param @fc1.weight : memref<4x2xf32>\n",
    "plan.record": "plan.event @uploaded on 1\n",
    "plan.wait": "plan.event @uploaded on 1\n",
    "plan.launch": "weft.kernel @k_1f(%x: tensor<8x4xf32>, %b: tensor<4xf32>) "
                   "-> tensor<8x4xf32> elementwise [32] inplace [[]] {\n  weft.yield %x : tensor<8x4xf32>\n}\n",
}
# Operand types of ops that print fewer types than they have operands.
F32, F64, I64, I1 = "tensor<f32>", "tensor<f64>", "tensor<i64>", "tensor<i1>"
SCALER_STATE = "tensor<3xi64>"
OPERANDS = {
    "weft.accumulate": lambda t: [t[0], t[0], F32],
    # Segments, if there are any, stand before the factors.
    "weft.attention": lambda t: [*t[1:], t[0]] if len(t) > 3 else t,
    "weft.attention_grad": lambda t: [t[0], t[0], t[1], t[1], t[0], t[2]],
    "weft.bce": lambda t: [t[0], t[0]],
    "weft.clip_coefficient": lambda t: [F64, F64, F32],
    "weft.cross_entropy_grad": lambda t: [t[0], t[1], t[2], t[3], t[0]],
    "weft.gelu_grad": lambda t: [t[0], t[0]],
    # A bias or an aux, if there is one, stands before the factors.
    "weft.gemm": lambda t: [t[1], t[2], t[0]] if len(t) > 4 else t,
    "weft.layer_norm": lambda t: [t[0], t[1], t[1]],
    "weft.layer_drop": lambda t: [t[0], t[0]],
    "weft.matmul": lambda t: [t[1], t[2], t[0]],
    "weft.mse": lambda t: [t[0], t[0]],
    "weft.bce_with_logits": lambda t: [t[0], t[0]],
    "plan.constant": lambda t: [t[-1]],
    "weft.random_normal": lambda t: [I64],
    "weft.random_slice": lambda t: [I64, I64],
    "weft.random_uniform": lambda t: [I64],
    "weft.relu_grad": lambda t: [t[0], t[0]],
    "weft.rope": lambda t: [t[0], t[1], t[1]],
    "weft.scaler_update": lambda t: [F32, SCALER_STATE, I1],
    "weft.step_increment": lambda t: [I64, I1],
    "weft.total_norm": lambda t: [F64, F64, I1, I1, F32],
}
TYPE = re.compile(r"(?:tensor|memref)<(?:[^<>]|<[^<>]*>)*>")


def read_examples(text):
    """(op, example) for each op, in order."""
    sections = re.split(r"^### `([a-z]+\.[a-z0-9_]+)`.*$", text, flags=re.M)
    for name, body in zip(sections[1::2], sections[2::2]):
        body = re.split(r"^(?:Traits|Interfaces|#### )", body, flags=re.M)[0]
        examples = re.findall(r"```mlir\n(.*?)```", body, flags=re.S)
        examples += re.findall(r"Example:\s+`([^`]+)`", body)
        yield name, examples


def operand_types(op, example, names):
    types = TYPE.findall(example.split(" : ", 1)[1]) if " : " in example else []
    if op in OPERANDS:
        types = OPERANDS[op](types)
    if len(types) < len(names):
        sys.exit(f"{op}: {len(names)} operands, but {len(types)} types in: {example}")
    return dict(zip(names, types))


def used_names(example):
    """Operands in the order of use, without what the example defines."""
    code = re.sub(r"//.*", "", example)
    defined = set()
    for results in re.findall(r"^\s*((?:%\w+(?:, )?)+) =", code, flags=re.M):
        defined.update(re.findall(r"%\w+", results))
    code = re.sub(r"^\s*(?:%\w+(?:, )?)+ =", "", code, flags=re.M)
    return [n for n in dict.fromkeys(re.findall(r"%\w+", code)) if n not in defined]


def in_weft_program(op, example):
    names = used_names(example)
    if op == "weft.draw":  # a kernel in linalg form
        return f"func.func @f({', '.join(f'{n}: i64' for n in names)}) {{\n  {example}\n  return\n}}\n"
    types = operand_types(op, example, names)
    args = ", ".join(f'{n}: {types[n]} {{weft.input = "{n[1:]}"}}' for n in names)
    if op == "weft.return":
        out = re.match(r"weft\.return (%\w+) : ([^ ]+)", example)
        return (f'weft.program @p({args}) -> ({out[2]} {{weft.output = "out"}}) '
                f"attributes {{kind = #weft.kind<micro>}} {{\n  {example}\n}}\n")
    if op == "weft.yield":
        args = ", ".join(f"{n}: {types[n]}" for n in names)
        return (f"weft.kernel @k({args}) -> {types[names[0]]} elementwise [4] "
                f"inplace [[]] {{\n  {example}\n}}\n")
    return (f"weft.program @p({args}) attributes {{kind = #weft.kind<micro>}} {{\n"
            f"  {example}\n  weft.return\n}}\n")


def buffer_types(op, example):
    """Types of a command's operands: those in a clause `name(%x : type)` stand
    there, the others behind the command in the order of the operands."""
    types = {}
    for line in example.splitlines():
        for names, listed in re.findall(r"\(((?:%\w+(?:, )?)+) : ([^()]*)\)", line):
            types.update(zip(names.split(", "), TYPE.findall(listed)))
        rest = re.sub(r"\((?:%\w+(?:, )?)+ : [^()]*\)", "", line)
        code, _, listed = rest.partition(" : ")
        found = re.findall(r"%\w+", re.sub(r"^\s*%\w+ =", "", code))
        kinds = TYPE.findall(re.sub(r"\{[^{}]*\} : ", "", listed))
        if op in OPERANDS:
            kinds = OPERANDS[op](kinds)
        if len(kinds) < len(found):
            sys.exit(f"{op}: {len(found)} operands, but {len(kinds)} types in: {line}")
        types.update(zip(found, kinds))
    return types


def in_plan_program(op, example):
    names = used_names(example)
    types = buffer_types(op, example)
    allocs = "".join(f"  {n} = plan.alloc temporary : {types[n]}\n" for n in names)
    return f'plan.program "eval" @p {{\n{allocs}  {example}\n}}\n'


def wrap(op, example):
    if example.lstrip().split(" ")[0] in DECLARATIONS:
        return SYMBOLS.get(op, "") + example
    make = in_weft_program if op.startswith(("weft.", "dist.")) else in_plan_program
    return SYMBOLS.get(op, "") + make(op, example.strip())


def main(docs, out):
    with open(docs) as f:
        ops = list(read_examples(f.read()))
    missing = [op for op, examples in ops if not examples]
    if missing or not ops:
        sys.exit("no example: " + ", ".join(missing))
    parts = [f"// {op}\n{wrap(op, e)}" for op, examples in ops for e in examples]
    with open(out, "w") as f:
        f.write("\n// -----\n\n".join(parts))
    print(f"{len(ops)} ops, {len(parts)} examples")


if __name__ == "__main__":
    main(*sys.argv[1:])
