#!/usr/bin/env python3
"""Writes the CHECK lines of interpreter tests from PyTorch in float64.

usage: reference.py FILE.mlir...

The constants of each program are its data, in the order in which they stand;
REFERENCE says what the program of that name computes from them. Tests do not
need this script or PyTorch: it is run when a program is added.
"""

import json
import re
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def parse_constant(text, type_text):
    *dims, kind = type_text.split("x")
    shape = [int(d) for d in dims]
    dtype = {"f": torch.float64, "i": torch.int64}[kind[0]]
    value = torch.tensor(json.loads(text), dtype=torch.bool if kind == "i1" else dtype)
    return value.expand(shape) if value.dim() == 0 else value.reshape(shape)


def text_of(value):
    if isinstance(value, list):
        return "[" + ", ".join(text_of(v) for v in value) + "]"
    return str(int(value)) if isinstance(value, (bool, int)) else "%.9g" % value


# --- elementwise


def any_sign(x):
    names = "neg abs sign exp tanh erf sin cos sigmoid relu".split()
    result = {name: getattr(torch, name)(x) for name in names}
    return {**result, "silu": F.silu(x), "softplus": F.softplus(x, threshold=1e9),
            "gelu": F.gelu(x), "gelu_tanh": F.gelu(x, approximate="tanh")}


def activation_grads(x, g):
    x.requires_grad_()
    results = {"relu": F.relu(x), "gelu": F.gelu(x), "gelu_tanh": F.gelu(x, approximate="tanh")}
    return {name: torch.autograd.grad(y, x, g)[0] for name, y in results.items()}


def positive(x):
    names = "log log1p sqrt rsqrt reciprocal".split()
    return {name: getattr(torch, name)(x) for name in names}


def far_out(x):
    return {"softplus": F.softplus(x), "sigmoid": torch.sigmoid(x),
            "relu": torch.relu(x), "sqrt": torch.sqrt(x)}


def arithmetic(x, y):
    div = x / y if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc")
    return {"add": x + y, "sub": x - y, "mul": x * y, "div": div,
            "max": torch.maximum(x, y), "min": torch.minimum(x, y)}


def compare(x, y):
    return {p: getattr(torch, p)(x, y) for p in "eq ne lt le gt ge".split()}


def casts(x, b):
    return {"to_int": x.long(), "to_float": x.long().double(),
            "bool_to_int": b.long(), "bool_to_float": b.double()}


# --- shape


def reductions(x):
    result = {}
    for name, dims, keep in [("0", [0], False), ("12", [1, 2], False),
                             ("02_kept", [0, 2], True), ("all", [0, 1, 2], False)]:
        for kind, function in [("sum", torch.sum), ("mean", torch.mean),
                               ("max", torch.amax), ("min", torch.amin)]:
            result[f"{kind}_{name}"] = function(x, dims, keepdim=keep)
    return result


def pad(x):
    r = torch.zeros(4, 4)
    r[1::2, :2] = x
    return {"r": r}


# --- layers


def embedding(table, ids, grad):
    table = table.clone().requires_grad_()
    rows = F.embedding(ids, table)
    return {"rows": rows, "grad": torch.autograd.grad(rows, table, grad)[0]}


def layer_norm(x, w, b):
    variance = x.var(-1, unbiased=False)
    return {"y": F.layer_norm(x, x.shape[-1:], w, b, 1e-5), "mean": x.mean(-1),
            "rstd": 1 / torch.sqrt(variance + 1e-5)}


def rms_norm(x, w):
    rstd = 1 / torch.sqrt(x.square().mean(-1) + 1e-6)
    return {"y": x * rstd[..., None] * w, "rstd": rstd}


def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    c, s = cos[None, :, None], sin[None, :, None]
    return {"r": torch.cat([a * c - b * s, b * c + a * s], -1)}


def attention(causal, window=None, softcap=None):
    def compute(q, k, v, grad, segments=None):
        leaves = [t.clone().requires_grad_() for t in (q, k, v)]
        repeat = q.shape[2] // k.shape[2]
        qh, kh, vh = (t.transpose(1, 2) for t in leaves)
        kh, vh = (t.repeat_interleave(repeat, 1) for t in (kh, vh))
        scores = 0.5 * qh @ kh.transpose(2, 3)
        if softcap:
            scores = softcap * torch.tanh(scores / softcap)
        T, S = scores.shape[-2:]
        visible = torch.ones(T, S, dtype=torch.bool)
        if causal:
            visible = visible.tril(S - T)
        if window:
            visible = visible.triu(S - T - window + 1).tril(S - T + window - 1)
        if segments is not None:
            visible = visible & (segments[:, None, :, None] == segments[:, None, None])
        scores = scores.masked_fill(~visible, float("-inf"))
        out = (scores.softmax(-1) @ vh).transpose(1, 2)
        dq, dk, dv = torch.autograd.grad(out, leaves, grad)
        return {"out": out, "lse": scores.logsumexp(-1), "dq": dq, "dk": dk, "dv": dv}
    return compute


# --- losses


def cross_entropy(weighted=False, ignore=-100, smoothing=0.0, reduction="mean"):
    def compute(x, t, *rest):
        weight, grad = (rest[0], rest[1]) if weighted else (None, rest[0])
        x = x.clone().requires_grad_()
        rows, targets = x.reshape(-1, x.shape[-1]), t.reshape(-1)
        loss = F.cross_entropy(rows, targets, weight, ignore_index=ignore,
                               label_smoothing=smoothing, reduction=reduction)
        counted = targets[targets != ignore]
        ones = torch.ones(x.shape[-1]) if weight is None else weight
        denom = ones[counted].sum() if reduction == "mean" else torch.tensor(1.0)
        return {"loss": loss, "lse": x.logsumexp(-1), "denom": denom,
                "grad": torch.autograd.grad(loss, x, grad)[0]}
    return compute


def pairs(x, t):
    result = {}
    for suffix, reduction in [("", "mean"), ("_sum", "sum")]:
        result["mse" + suffix] = F.mse_loss(x, t, reduction=reduction)
        result["bce" + suffix] = F.binary_cross_entropy_with_logits(x, t, reduction=reduction)
    return result


# --- optimizers


def adam(kind, lr_scale=1.0, decay_scale=1.0):
    def compute(p, m, v, g, coef, skip, step, lr, decay, beta1, beta2, eps):
        if skip:
            return {"param": p, "exp_avg": m, "exp_avg_sq": v}
        p = torch.nn.Parameter(p.clone())
        p.grad = g * coef
        optimizer = kind([p], lr=float(lr) * lr_scale, betas=(float(beta1), float(beta2)),
                         eps=float(eps), weight_decay=float(decay) * decay_scale)
        optimizer.state[p] = {"step": torch.tensor(float(step) - 1),
                              "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
        optimizer.step()
        state = optimizer.state[p]
        return {"param": p, "exp_avg": state["exp_avg"], "exp_avg_sq": state["exp_avg_sq"]}
    return compute


def sgd(nesterov=False):
    def compute(p, buffer, g, coef, skip, step, lr, decay, momentum):
        if skip:
            return {"param": p, "momentum_buffer": buffer}
        # Without momentum PyTorch keeps no buffer; weft's is then the gradient.
        plain = g * coef + decay * p
        p = torch.nn.Parameter(p.clone())
        p.grad = g * coef
        optimizer = torch.optim.SGD([p], lr=float(lr), momentum=float(momentum),
                                    weight_decay=float(decay), nesterov=nesterov)
        if step > 1:
            optimizer.state[p] = {"momentum_buffer": buffer.clone()}
        optimizer.step()
        kept = optimizer.state[p].get("momentum_buffer") if momentum else plain
        return {"param": p, "momentum_buffer": kept}
    return compute


def norms(g0, g1, bad, limit, off):
    both = torch.cat([g0.reshape(-1), g1.reshape(-1)])
    result = {f"norm_{p}": torch.linalg.vector_norm(both, float(p)) for p in "1 2 3 inf".split()}
    result["clip"] = limit / (result["norm_2"] + 1e-6)
    return {**result, "found_inf": torch.tensor(False), "bad_inf": torch.tensor(True),
            "bad_norm": torch.tensor(float("inf")), "bad_clip": torch.tensor(1.0),
            "no_clip": torch.tensor(1.0), "small_clip": torch.tensor(1.0)}


# --- random numbers: Philox4x32-10, independent of the C++ header


def mix(value):
    value = (value + 0x9E3779B97F4A7C15) % 2**64
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
    return value ^ (value >> 31)


def philox(seed, stream, row, element):
    key = mix((mix(seed) + stream) % 2**64)
    k0, k1 = key % 2**32, key >> 32
    block = element // 4
    c = [block % 2**32, block >> 32, row % 2**32, row >> 32]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k0, p1 % 2**32, (p0 >> 32) ^ c[3] ^ k1, p0 % 2**32]
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return c[element % 4] >> 8  # 24 bits


def name_hash(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def uniform(seed):
    draws = [philox(int(seed), name_hash("h.0.w"), 0, e) / 2**24 for e in range(6)]
    return {"r": torch.tensor(draws).reshape(2, 3) * 4 - 1}


def keep_factors(rng, op_id, p, rows, width):
    seed, first = rng.tolist()
    return torch.tensor([[(philox(seed, op_id, first + row, e) >= p * 2**24) / (1 - p)
                          for e in range(width)] for row in range(rows)])


def dropout(x, rng):
    return {"r": x * keep_factors(rng, 5, 0.25, x.shape[0], x[0].numel()).reshape(x.shape)}


def attention_dropout(q, k, v, grad, rng):
    q, k, v = (t.clone().requires_grad_() for t in (q, k, v))
    qh, kh, vh = (t.transpose(1, 2) for t in (q, k, v))
    p = (0.5 * qh @ kh.transpose(2, 3)).softmax(-1)
    factors = keep_factors(rng, 9, 0.5, p.shape[0], p[0].numel()).reshape(p.shape)
    out = ((p * factors) @ vh).transpose(1, 2)
    dq, dk, dv = torch.autograd.grad(out, [q, k, v], grad)
    return {"out": out, "dq": dq, "dk": dk, "dv": dv}


REFERENCE = {
    "any_sign": any_sign, "activation_grads": activation_grads,
    "positive": positive, "far_out": far_out,
    "same_shape": arithmetic, "row": arithmetic, "outer": arithmetic,
    "scalar_right": arithmetic, "new_dims": arithmetic, "ints": arithmetic,
    "positive_pow": lambda x, y: {"pow": x ** y},
    "compare": compare, "casts": casts,
    "logic": lambda a, b: {"and": a & b, "or": a | b, "not": ~a},
    "select": lambda c, x, y: {"r": torch.where(c, x, y)},
    "reductions": reductions, "pad": pad,
    "broadcasts": lambda x: {"r": x.expand(2, 3, 2)},
    "moves": lambda x: {"reshape": x.reshape(4, 6), "transpose": x.permute(2, 0, 1),
                        "slice": x[1:2, 0:4:2, 1:5:2]},
    "concat": lambda *xs: {"r": torch.cat(xs, 1)},
    "plain": lambda x, y: {"r": x @ y},
    "transposed": lambda x, y: {"r": x.T @ y.T},
    "shared_rhs": lambda x, y: {"r": x @ y.T},
    "shared_lhs": lambda x, y: {"r": x @ y},
    "batched": lambda x, y: {"r": x @ y},
    "embedding": embedding,
    "softmax": lambda x: {"last": x.softmax(-1), "middle": x.softmax(1),
                          "log": x.log_softmax(-2)},
    "softmax_large": lambda x: {"r": x.softmax(-1), "log": x.log_softmax(-1)},
    "layer_norm": layer_norm, "rms_norm": rms_norm, "rope": rope,
    "full": attention(False), "causal": attention(True),
    "grouped_causal": attention(True), "longer_keys": attention(True),
    "sliding_window": attention(True, window=2),
    "window_on_both_sides": attention(False, window=2),
    "softcap": attention(True, softcap=0.75), "documents": attention(False),
    "scattered_documents": attention(True, window=3, softcap=2.0),
    "ce_plain": cross_entropy(), "ce_ignored": cross_entropy(),
    "ce_sum": cross_entropy(ignore=2, reduction="sum"),
    "ce_weighted": cross_entropy(weighted=True),
    "ce_smoothed": cross_entropy(smoothing=0.125),
    "ce_smoothed_weighted": cross_entropy(weighted=True, smoothing=0.25),
    "ce_all_ignored": lambda x, t: {"loss": F.cross_entropy(x, t),
                                    "denom": torch.tensor(0.0)},
    "pairs": pairs,
    "adamw": adam(torch.optim.AdamW), "adamw_skipped": adam(torch.optim.AdamW),
    "adamw_scaled": adam(torch.optim.AdamW, 0.5, 0.0), "adam": adam(torch.optim.Adam),
    "sgd_plain": sgd(), "sgd_first": sgd(), "sgd_momentum": sgd(),
    "sgd_skipped": sgd(), "sgd_nesterov": sgd(nesterov=True),
    "norms": norms, "uniform": uniform, "dropout": dropout,
    "attention_dropout": attention_dropout,
}

PROGRAM = re.compile(r"((?://[^\n]*\n)*)weft\.program @(\w+)\(.*?^}\n", re.M | re.S)
CONSTANT = re.compile(r"weft\.constant dense<(.*?)> : tensor<(.*?)>")
OUTPUT = re.compile(r'tensor<([^<>]*)> {weft\.output = "(\w+)"}')


def with_checks(match):
    comments, name = match.group(1), match.group(2)
    body = match.group(0)[len(comments):]
    constants = [parse_constant(*c) for c in CONSTANT.findall(body)]
    values = REFERENCE[name](*constants)
    types = {output: type_text for type_text, output in OUTPUT.findall(body)}
    kept = [line for line in comments.splitlines() if "CHECK" not in line]
    checks = [f"// CHECK-LABEL: program @{name}{{{{$}}}}"]
    for output in sorted(values):
        text = text_of(values[output].detach().tolist()).replace("[[", "{{\\[\\[}}")
        checks.append(f"// CHECK-NEXT: {output} = {text} : {types[output]}")
    return "\n".join(kept + checks) + "\n" + body


for path in sys.argv[1:]:
    with open(path) as file:
        checked = PROGRAM.sub(with_checks, file.read())
    with open(path, "w") as file:
        file.write(checked)
