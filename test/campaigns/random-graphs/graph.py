"""A model as a list of nodes, each of which reads nodes before it.

A node knows the shape, the type and the bounds of its values, so that a graph
can grow without overflow, and any node can give way to a parameter of the same
shape and bounds when a failing graph is made smaller.
"""
import random
import struct

# Elements of bf16 are given as their bits.
PACKED = {"f32": ("F32", "f"), "i32": ("I32", "i"), "f16": ("F16", "e"), "bf16": ("BF16", "H")}
UNPACKED = {"F16": "e", "BF16": "H", "F32": "f", "F64": "d", "I32": "i", "I64": "q"}


def type_of(shape, dtype):
    return "tensor<" + "".join(f"{size}x" for size in shape) + dtype + ">"


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


class Node:
    """`form` is the op's text with {0}, {1} for operands and {t0}, {t1} for their
    types; {t} is the type of the result. Leaves have the forms `input`, `param`
    and `constant`."""

    def __init__(self, form, args, shape, bounds, dtype="f32", results=1):
        self.form, self.args, self.results = form, list(args), results
        self.shape, self.dtype = tuple(shape), dtype
        self.low, self.high = bounds
        self.is_frozen = False

    @property
    def bounds(self):
        return self.low, self.high

    @property
    def magnitude(self):
        return max(abs(self.low), abs(self.high))

    @property
    def type(self):
        return type_of(self.shape, self.dtype)

    @property
    def is_leaf(self):
        return self.form in ("input", "param", "constant")


class Graph:
    """Nodes in program order, the terms of the loss, (node, weight), and the nodes of
    metrics. One term is the output `loss`; several are weighted outputs."""

    def __init__(self, seed):
        self.seed, self.nodes, self.terms, self.metrics = seed, [], [], []

    def add(self, *args, **kwargs):
        self.nodes.append(Node(*args, **kwargs))
        return len(self.nodes) - 1

    def __getitem__(self, index):
        return self.nodes[index]

    def users(self):
        """For each node, the nodes that read it."""
        users = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            for arg in node.args:
                users[arg].append(index)
        return users

    def outputs(self):
        return [node for node, _ in self.terms] + self.metrics

    def needed(self):
        """Nodes that the loss or a metric depends on."""
        live = set(self.outputs())
        for index in reversed(range(len(self.nodes))):
            if index in live:
                live.update(self.nodes[index].args)
        return sorted(live)

    def of_form(self, form):
        return [i for i in self.needed() if self.nodes[i].form == form]

    # Text

    def values(self, index):
        """The elements of a leaf: the same for a seed and a node."""
        node, draw = self.nodes[index], random.Random(self.seed * 1009 + index)
        if node.dtype == "i32":
            return [draw.randint(node.low, node.high) for _ in range(count(node.shape))]
        return [draw.uniform(node.low, node.high) for _ in range(count(node.shape))]

    def constant(self, index):
        node = self.nodes[index]
        if node.low == node.high:
            return f"weft.constant dense<{node.low!r}> : {node.type}"
        flat = self.values(index)

        def nest(shape, offset):
            if not shape:
                return repr(flat[offset])
            step = count(shape[1:])
            return "[" + ", ".join(nest(shape[1:], offset + i * step)
                                   for i in range(shape[0])) + "]"

        return f"weft.constant dense<{nest(node.shape, 0)}> : {node.type}"

    def line(self, index):
        node = self.nodes[index]
        if node.form == "constant":
            text = self.constant(index)
        elif node.form == "param":
            text = f"weft.read @p{index} : {node.type}"
        else:
            types = {f"t{i}": self.nodes[arg].type for i, arg in enumerate(node.args)}
            text = node.form.format(*(f"%v{arg}" for arg in node.args), t=node.type, **types)
        names = [f"%v{index}"] + [f"%v{index}_{i}" for i in range(1, node.results)]
        return f"    {', '.join(names)} = {text}"

    def text(self, note=""):
        lines = [f"// {note}"] if note else []
        lines.append("module {")
        for index in self.of_form("param"):
            node = self.nodes[index]
            frozen = ", trainable = false" if node.is_frozen else ""
            lines.append(f"  weft.param @p{index} : {node.type} "
                         f"{{init = #weft.init<zeros>{frozen}}}")
        inputs = ", ".join(f'%v{i}: {self.nodes[i].type} {{weft.input = "v{i}"}}'
                           for i in self.of_form("input"))
        if len(self.terms) == 1:
            results = ['tensor<f32> {weft.output = "loss"}']
        else:
            results = [f'tensor<f32> {{weft.output = "l{i}", weft.loss = {weight!r} : f64}}'
                       for i, (_, weight) in enumerate(self.terms)]
        results += [f'tensor<f32> {{weft.output = "metric{i}", weft.metric}}' for i in range(len(self.metrics))]
        lines.append(f"  weft.program @model({inputs}) -> ({', '.join(results)}) "
                     "attributes {kind = #weft.kind<model>} {")
        lines += [self.line(i) for i in self.needed() if self.nodes[i].form != "input"]
        lines.append("    weft.return " + ", ".join(f"%v{node}" for node in self.outputs()) + " : "
                     + ", ".join("tensor<f32>" for _ in self.outputs()))
        return "\n".join(lines + ["  }", "}", ""])

    def tensors(self, form):
        """Name, type, shape and elements of the inputs or parameters."""
        prefix = {"input": "v", "param": "p"}[form]
        return {f"{prefix}{i}": (self.nodes[i].dtype, self.nodes[i].shape, self.values(i))
                for i in self.of_form(form)}


def write_tensors(path, tensors):
    """A safetensors file of {name: (type, shape, elements)}."""
    entries, blocks, offset = [], [], 0
    for name, (dtype, shape, values) in tensors.items():
        label, code = PACKED[dtype]
        block = struct.pack(f"<{len(values)}{code}", *values)
        sizes = ",".join(str(size) for size in shape)
        entries.append(f'"{name}":{{"dtype":"{label}","shape":[{sizes}],'
                       f'"data_offsets":[{offset},{offset + len(block)}]}}')
        blocks.append(block)
        offset += len(block)
    header = ("{" + ",".join(entries) + "}").encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + b"".join(blocks))


def read_tensors(path):
    """{name: elements} of a safetensors file, of numbers that are no truth values."""
    import json
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, info in json.loads(data[8:8 + length]).items():
        if name == "__metadata__" or info["dtype"] not in UNPACKED:
            continue
        begin, end = (8 + length + offset for offset in info["data_offsets"])
        code = UNPACKED[info["dtype"]]
        values = struct.unpack(f"<{(end - begin) // struct.calcsize(code)}{code}", data[begin:end])
        if info["dtype"] == "BF16":  # the upper half of an f32
            values = struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}I", *(v << 16 for v in values)))
        tensors[name] = values
    return tensors
