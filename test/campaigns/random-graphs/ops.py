"""One function for each kind of op: it adds one that reads nodes of the graph, or
returns None if none is fit. Arguments of roots, logarithms and divisors stay away
from their poles."""
import math
import random

from choice import LIMIT, Choice, broadcast
from graph import count


def corners(op, a, b):
    found = [op(x, y) for x in a for y in b]
    return min(found), max(found)


MONOTONE = {
    "tanh": (lambda x: True, math.tanh),
    "erf": (lambda x: True, math.erf),
    "sigmoid": (lambda x: True, lambda x: 1 / (1 + math.exp(-x))),
    "relu": (lambda x: True, lambda x: max(x, 0.0)),
    "softplus": (lambda x: True, lambda x: math.log1p(math.exp(x))),
    "exp": (lambda x: -6 < x < 2.5, math.exp),
    "log": (lambda x: x > 0.2, math.log),
    "log1p": (lambda x: x > -0.7, math.log1p),
    "sqrt": (lambda x: x > 0.1, math.sqrt),
    "rsqrt": (lambda x: x > 0.1, lambda x: 1 / math.sqrt(x)),
    "reciprocal": (lambda x: x > 0.2, lambda x: 1 / x),
    "neg": (lambda x: True, lambda x: -x),
}
BOUNDED = {
    "sin": lambda lo, hi: (-1.0, 1.0),
    "cos": lambda lo, hi: (-1.0, 1.0),
    "sign": lambda lo, hi: (-1.0, 1.0),
    "abs": lambda lo, hi: (0.0 if lo < 0 < hi else min(abs(lo), abs(hi)), max(abs(lo), abs(hi))),
    "silu": lambda lo, hi: (-0.3, max(hi, 0.0)),
    "gelu": lambda lo, hi: (-0.2, max(hi, 0.0)),
}
BINARY = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "max": max, "min": min, "div": lambda x, y: x / y, "pow": lambda x, y: x ** y,
}


class Ops(Choice):
    """Ops that can be added to a graph."""

    # Elementwise

    def unary(self, dtype="f32"):
        a = self.pick(dtype=dtype)
        if a is None:
            return None
        node, name = self.nodes[a], self.random.choice([*MONOTONE, *BOUNDED])
        form = f"weft.{name} {{0}} : {{t0}}"
        if name in BOUNDED:
            if name == "gelu" and self.random.random() < 0.5:
                form = "weft.gelu {0} {{approximate = #weft.gelu_kind<tanh>}} : {t0}"
            return self.op(form, [a], node.shape, BOUNDED[name](*node.bounds), dtype)
        accepts, function = MONOTONE[name]
        if not (accepts(node.low) and accepts(node.high)):
            return None
        return self.op(form, [a], node.shape, sorted(map(function, node.bounds)), dtype)

    def binary(self, dtype="f32"):
        a = self.pick(dtype=dtype)
        if a is None:
            return None
        name = self.random.choice(["add", "sub", "mul", "add", "sub", "mul", *BINARY])
        accepts = {"div": lambda node: node.low > 0.2, "pow": lambda node: node.magnitude <= 2}
        b = self.partner(a, dtype, accepts.get(name, lambda node: True))
        if b is None or (name == "pow" and self.nodes[a].low < 0.3):
            return None
        if name not in ("div", "pow") and self.random.random() < 0.5:
            a, b = b, a
        x, y = self.nodes[a], self.nodes[b]
        return self.op(f"weft.{name} {{0}}, {{1}} : {{t0}}, {{t1}}", [a, b],
                       broadcast(x.shape, y.shape), corners(BINARY[name], x.bounds, y.bounds),
                       dtype)

    def compare(self):
        a = self.pick()
        b = self.partner(a)
        if b is None:
            return None
        name = self.random.choice(["lt", "le", "gt", "ge"])
        return self.op(f"weft.compare {name} {{0}}, {{1}} : {{t0}}, {{t1}}", [a, b],
                       broadcast(self.nodes[a].shape, self.nodes[b].shape), (0, 1), "i1")

    def logical(self):
        a = self.pick(dtype="i1")
        if a is None:
            return None
        if self.random.random() < 0.3:
            return self.op("weft.not {0} : {t0}", [a], self.nodes[a].shape, (0, 1), "i1")
        b = self.partner(a, "i1")
        if b is None:
            return None
        name = self.random.choice(["and", "or"])
        return self.op(f"weft.{name} {{0}}, {{1}} : {{t0}}, {{t1}}", [a, b],
                       broadcast(self.nodes[a].shape, self.nodes[b].shape), (0, 1), "i1")

    def select(self):
        c = self.pick(dtype="i1")
        a = self.partner(c) if c is not None else None
        if a is None:
            return None
        shapes = [self.nodes[c].shape, self.nodes[a].shape]
        b = self.pick(lambda node: broadcast(node.shape, *shapes) is not None)
        if b is None:
            return None
        x, y = self.nodes[a], self.nodes[b]
        return self.op("weft.select {0}, {1}, {2} : {t0}, {t1}, {t2}", [c, a, b],
                       broadcast(*shapes, y.shape), (min(x.low, y.low), max(x.high, y.high)))

    def cast(self):
        """To a type and back, with an op or two in between."""
        if self.random.random() < 0.25:
            a, dtype = self.pick(dtype="i1"), "i1"
        else:
            a, dtype = self.pick(), self.random.choice(["f16", "bf16", "f64"])
        if a is None:
            return None
        if dtype != "i1":
            node = self.nodes[a]
            if self.op("weft.cast {0} : {t0} to {t}", [a], node.shape, node.bounds,
                       dtype) is None:
                return None
            for _ in range(self.random.randint(0, 2)):
                self.random.choice([self.unary, self.binary])(dtype)
            a = self.pick(dtype=dtype)
        node = self.nodes[a]
        return self.op("weft.cast {0} : {t0} to {t}", [a], node.shape, node.bounds)

    # Shapes

    def reshape(self):
        a = self.pick()
        node, left, shape = self.nodes[a], count(self.nodes[a].shape), []
        while left > 1:
            size = self.random.choice([d for d in range(1, left + 1) if left % d == 0])
            shape.insert(self.random.randint(0, len(shape)), size)
            left //= size
            if len(shape) == 3:
                shape.append(left)
                break
        if len(shape) < 4 and self.random.random() < 0.2:
            shape.insert(self.random.randint(0, len(shape)), 1)
        return self.op("weft.reshape {0} : {t0} to {t}", [a], shape, node.bounds)

    def broadcast(self):
        a = self.pick(lambda node: len(node.shape) < 5)
        node = self.nodes[a]
        shape = [self.random.choice(self.sizes) if size == 1 and self.random.random() < 0.7
                 else size for size in node.shape]
        for _ in range(self.random.choice([0, 1, 1, 2])):
            if len(shape) < 4:
                shape.insert(0, self.random.choice(self.sizes))
        return self.op("weft.broadcast {0} : {t0} to {t}", [a], shape, node.bounds)

    def transpose(self):
        a = self.pick(lambda node: len(node.shape) > 1)
        if a is None:
            return None
        node = self.nodes[a]
        order = self.random.sample(range(len(node.shape)), len(node.shape))
        return self.op(f"weft.transpose {{0}} {order} : {{t0}}", [a],
                       [node.shape[i] for i in order], node.bounds)

    def slice(self):
        a = self.pick(lambda node: count(node.shape) > 1)
        if a is None:
            return None
        node = self.nodes[a]
        offsets, sizes, strides = [], [], []
        for size in node.shape:
            stride = self.random.choice([1, 1, 1, 2, 3])
            offset = self.random.randint(0, size - 1) if self.random.random() < 0.5 else 0
            most = (size - offset + stride - 1) // stride
            offsets.append(offset)
            sizes.append(self.random.randint(1, most) if self.random.random() < 0.5 else most)
            strides.append(stride)
        return self.op(f"weft.slice {{0}} offsets {offsets} sizes {sizes} strides {strides}"
                       " : {t0}", [a], sizes, node.bounds)

    def pad(self):
        a = self.pick(lambda node: len(node.shape) > 0)
        if a is None:
            return None
        node = self.nodes[a]
        low, high, interior = ([self.random.choice([0, 0, 1, 2]) for _ in node.shape]
                               for _ in range(3))
        shape = [l + h + size + (size - 1) * i
                 for l, h, i, size in zip(low, high, interior, node.shape)]
        return self.op(f"weft.pad {{0}} low {low} high {high} interior {interior} : {{t0}}", [a],
                       shape, (min(node.low, 0.0), max(node.high, 0.0)))

    def concat(self):
        a = self.pick(lambda node: len(node.shape) > 0)
        if a is None:
            return None
        shape = self.nodes[a].shape
        dim = self.random.randrange(len(shape))

        def fits(node):
            return len(node.shape) == len(shape) and all(
                i == dim or size == shape[i] for i, size in enumerate(node.shape))

        args = [a] + [self.pick(fits) for _ in range(self.random.choice([1, 1, 2]))]
        self.random.shuffle(args)
        parts = [self.nodes[i] for i in args]
        result = [sum(part.shape[dim] for part in parts) if i == dim else size
                  for i, size in enumerate(shape)]
        names = ", ".join(f"{{{i}}}" for i in range(len(args)))
        types = ", ".join(f"{{t{i}}}" for i in range(len(args)))
        return self.op(f"weft.concat {names} {{{{dim = {dim}}}}} : {types}", args, result,
                       (min(part.low for part in parts), max(part.high for part in parts)))

    def materialize(self):
        a = self.pick()
        return self.op("weft.materialize {0} : {t0}", [a], self.nodes[a].shape, self.nodes[a].bounds)

    def reduce(self, a=None, dims=None, kind=None):
        a = self.pick(lambda node: len(node.shape) > 0) if a is None else a
        if a is None:
            return None
        node = self.nodes[a]
        rank = range(len(node.shape))
        if dims is None:
            dims = sorted(self.random.sample(rank, self.random.randint(1, len(node.shape))))
        kind = kind or self.random.choice(["sum", "mean", "mean", "max", "min"])
        keep = self.random.random() < 0.3
        shape = [1 if i in dims else node.shape[i] for i in rank if keep or i not in dims]
        times = count([node.shape[i] for i in dims]) if kind == "sum" else 1
        attributes = " {{keep_dims}}" if keep else ""
        return self.op(f"weft.reduce {kind} {{0}} dims {dims}{attributes} : {{t0}}", [a], shape,
                       sorted((node.low * times, node.high * times)))

    # Layers

    def softmax(self):
        a = self.pick(lambda node: len(node.shape) > 0)
        if a is None:
            return None
        node = self.nodes[a]
        dim = self.random.randrange(len(node.shape))
        name = self.random.choice(["softmax", "log_softmax"])
        spread = node.high - node.low + math.log(node.shape[dim])
        bounds = (0.0, 1.0) if name == "softmax" else (-spread, 0.0)
        return self.op(f"weft.{name} {{0}} {{{{dim = {dim}}}}} : {{t0}}", [a], node.shape, bounds)

    def norm(self):
        a = self.pick(lambda node: len(node.shape) > 0 and node.magnitude < 8)
        if a is None:
            return None
        node = self.nodes[a]
        width = node.shape[-1]
        bound = math.sqrt(width) * 1.5 + 1
        weight = self.param((width,), 0.5, 1.5)
        if self.random.random() < 0.5:
            return self.op("weft.rms_norm {0}, {1} {{eps = 1.0e-1 : f64}} : {t0}, {t1}",
                           [a, weight], node.shape, (-bound, bound), results=2)
        bias = self.param((width,))
        return self.op("weft.layer_norm {0}, {1}, {2} {{eps = 1.0e-1 : f64}} : {t0}, {t1}",
                       [a, weight, bias], node.shape, (-bound, bound), results=3)

    def scaled_norm(self):
        """A norm times a weight of one element, whose gradient is a sum of all elements."""
        norm = self.norm()
        if norm is None:
            return None
        node, scale = self.nodes[norm], self.param(())
        return self.op("weft.mul {0}, {1} : {t0}, {t1}", [norm, scale], node.shape, node.bounds)

    def matmul(self):
        a = self.pick(lambda node: len(node.shape) in (2, 3))
        if a is None:
            return None
        x = self.nodes[a]
        tl, tr = (self.random.random() < 0.4 for _ in range(2))
        rows, inner = x.shape[-2:] if not tl else x.shape[-2:][::-1]

        def fits(node):
            batches = [shape[:-2] for shape in (x.shape, node.shape) if len(shape) > 2]
            return (len(node.shape) in (2, 3) and node.shape[-1 if tr else -2] == inner
                    and len(set(batches)) <= 1)

        b = self.pick(fits) if self.random.random() < 0.5 else None
        if b is None:
            columns = self.random.choice(self.sizes)
            bound = min(1.0, 6.0 / (inner * max(x.magnitude, 0.1)))
            b = self.param((columns, inner) if tr else (inner, columns), -bound, bound)
        y = self.nodes[b]
        columns = y.shape[-2 if tr else -1]
        batches = x.shape[:-2] or y.shape[:-2]
        args, text, types = [a, b], "", ""
        bound = inner * x.magnitude * y.magnitude
        if self.random.random() < 0.4:
            args.append(self.param((columns,)))
            text, bound = " bias {2} : {t2}", bound + 1
        flags = ", ".join(name for flag, name in ((tl, "transpose_lhs"), (tr, "transpose_rhs"))
                          if flag)
        flags = f" {{{{{flags}}}}}" if flags else ""
        return self.op(f"weft.matmul {{0}}, {{1}}{text}{flags} : {{t0}}, {{t1}}{types}", args,
                       (*batches, rows, columns), (-bound, bound))

    def embedding(self):
        table = self.pick(lambda node: len(node.shape) == 2 and node.shape[0] > 1)
        if table is None or self.random.random() < 0.5:
            table = self.param((self.random.choice([2, 3, 7, 11]), self.random.choice(self.sizes)))
        node = self.nodes[table]
        shape = [self.batch] + [self.random.choice(self.sizes)
                                for _ in range(self.random.randint(0, 2))]
        ids = self.indices(shape, node.shape[0])
        return self.op("weft.embedding {0}, {1} : {t0}, {t1}", [table, ids],
                       (*shape, node.shape[1]), node.bounds)

    def attention(self):
        value = self.pick(lambda node: len(node.shape) == 4 and node.magnitude < 4)
        if value is None:
            return None
        v = self.nodes[value]
        batch, keys, groups, width = v.shape
        key = self.pick(lambda node: node.shape == v.shape and node.magnitude < 4)
        heads = groups * self.random.choice([1, 1, 2])
        query = self.pick(lambda node: len(node.shape) == 4 and node.magnitude < 4 and
                          (node.shape[0], node.shape[3]) == (batch, width)
                          and node.shape[2] % groups == 0)
        if query is None:
            query = self.param((batch, self.random.choice([1, 2, keys]), heads, width))
        q = self.nodes[query]
        causal = "causal, " if q.shape[1] <= keys and self.random.random() < 0.5 else ""
        variant = self.attention_variant(q.shape[1], keys, causal)
        return self.op(f"weft.attention {{0}}, {{1}}, {{2}} {{{{{causal}scale = 0.25 : f64{variant}}}}}"
                       " : {t0}, {t1}, {t2}", [query, key, value], q.shape, v.bounds, results=2)

    def attention_variant(self, queries, keys, causal):
        """A window and a softcap, by dice of their own: the graph of a seed keeps its other ops."""
        dice = random.Random(f"variant {len(self.nodes)} {queries} {keys}")
        softcap = dice.choice(["", "", ", softcap = 0.5 : f64", ", softcap = 20.0 : f64"])
        window = dice.choice([None, None, 1, 2, keys, 1000])
        if window is None or not (causal or queries == keys):
            return softcap
        return f"{softcap}, window = {window} : i64"

    def rope(self):
        a = self.pick(lambda node: len(node.shape) == 4 and node.shape[3] % 2 == 0)
        if a is None:
            return None
        node = self.nodes[a]
        tables = [self.graph.add("constant", [], (node.shape[1], node.shape[3] // 2), (-1.0, 1.0))
                  for _ in range(2)]
        bound = 2 * node.magnitude
        return self.op("weft.rope {0}, {1}, {2} : {t0}, {t1}", [a, *tables], node.shape,
                       (-bound, bound))

    def fold4(self):
        """A reshape to [batch, time, heads, width] for attention and rope."""
        a = self.pick(lambda node: count(node.shape) % (self.batch * 4) == 0
                      and len(node.shape) != 4)
        if a is None:
            return None
        left = count(self.nodes[a].shape) // self.batch // 4
        time = self.random.choice([d for d in range(1, left + 1) if left % d == 0])
        shape = (self.batch, time, *self.random.choice([(1, 4), (2, 2)]))
        shape = (*shape[:3], shape[3] * (left // time))
        return self.op("weft.reshape {0} : {t0} to {t}", [a], shape, self.nodes[a].bounds)

    def dropout(self):
        a = self.pick(lambda node: len(node.shape) > 0)
        if a is None:
            return None
        node = self.nodes[a]
        self.dropouts += 1
        return self.op(f"weft.dropout {{0}} {{{{p = 0.25 : f64, op_id = {self.dropouts}}}}}"
                       " : {t0}", [a], node.shape,
                       (min(node.low / 0.75, 0.0), max(node.high / 0.75, 0.0)))

    def layer_drop(self):
        """Of a value and one of its shape, which may be made of it."""
        a = self.pick()
        x = self.nodes[a]
        b = self.pick(lambda node: node.shape == x.shape and node is not x)
        if b is None:
            return None
        y = self.nodes[b]
        self.dropouts += 1
        return self.op("weft.layer_drop {0}, {1} "
                       f"{{{{p = 0.5 : f64, op_id = {self.dropouts}}}}} : {{t0}}", [a, b],
                       x.shape, (min(x.low, y.low), max(x.high, y.high)), results=2)

    def shared_layer(self):
        """A value that only two layers use: a parameter, a layer, or
        one within the other."""
        a = self.pick()
        x = self.nodes[a]
        reach = max(-x.low, x.high)

        def drop(layer, bound):
            self.dropouts += 1
            return self.op("weft.layer_drop {0}, {1} "
                           f"{{{{p = 0.5 : f64, op_id = {self.dropouts}}}}} : {{t0}}",
                           [a, layer], x.shape, (min(x.low, -bound), max(x.high, bound)),
                           results=2)

        shared = self.op("weft.mul {0}, {1} : {t0}, {t1}", [a, self.param(x.shape)], x.shape,
                         (-reach, reach))
        if shared is not None and self.random.random() < 0.6:
            shared = drop(shared, reach)
        if shared is None:
            return None
        first = drop(self.op("weft.tanh {0} : {t0}", [shared], x.shape, (-1.0, 1.0)), 1.0)
        second = drop(self.op("weft.neg {0} : {t0}", [shared], x.shape, (-reach, reach)), reach)
        return self.op("weft.add {0}, {1} : {t0}, {t1}", [first, second], x.shape,
                       (min(x.low, -1.0) + min(x.low, -reach),
                        max(x.high, 1.0) + max(x.high, reach)))

    # Losses

    def pair_loss(self):
        # Mixed precision refuses bce.
        name = self.random.choice(["mse", "bce_with_logits", self.chance])
        is_chance = name == "bce"
        a = self.pick(lambda node: not is_chance or (node.low > 0.05 and node.high < 0.95))
        if a is None:
            return None
        x = self.nodes[a]
        b = None
        if name == "mse" and self.random.random() < 0.5:
            b = self.pick(lambda node: node.shape == x.shape)
        if b is None:
            b = self.constant(x.shape, *((-1.0, 1.0) if name == "mse" else (0.0, 1.0)))
        y = self.nodes[b]
        bound = {"mse": (x.magnitude + y.magnitude) ** 2,
                 "bce_with_logits": 2 * x.magnitude + 1, "bce": 4.0}[name]
        total = " {{reduction = #weft.loss_reduction<sum>}}"
        reduction, times = self.random.choice([("", 1), (total, count(x.shape))])
        return self.op(f"weft.{name} {{0}}, {{1}}{reduction} : {{t0}}", [a, b], (),
                       (0.0, bound * times))

    def cross_entropy(self):
        a = self.pick(lambda node: len(node.shape) > 1 and node.shape[-1] > 1
                      and node.magnitude < 8)
        if a is None:
            return None
        x = self.nodes[a]
        targets = self.indices(x.shape[:-1], x.shape[-1])
        attributes = [] if self.random.random() < 0.6 else ["label_smoothing = 0.1 : f64"]
        args, text = [a, targets], ""
        if self.random.random() < 0.2:
            args.append(self.graph.add("constant", [], x.shape[-1:], (0.5, 1.5)))
            text = " weight {2} : {t2}"
        attributes = f" {{{{{', '.join(attributes)}}}}}" if attributes else ""
        return self.op(f"weft.cross_entropy {{0}}, {{1}}{text}{attributes} : {{t0}}, {{t1}}", args,
                       (), (0.0, 2 * x.magnitude + math.log(x.shape[-1])), results=3)

    # Metrics

    def accuracy(self, a, dice):
        """Of values without ties, whose order rounding does not change."""
        shape = self.nodes[a].shape
        spread = self.graph.add("constant", [], shape, (-1.0, 1.0))
        logits = self.graph.add("weft.add {0}, {1} : {t0}, {t1}", [a, spread], shape, (-LIMIT, LIMIT))
        is_input = shape[0] == self.batch and dice.random() < 0.7
        targets = self.graph.add("input" if is_input else "constant", [], shape[:-1], (0, shape[-1] - 1),
                                 dtype="i32")
        # Of so many draws not all are the ignored one.
        ignored = shape[-1] ** count(shape[:-1]) > 1e6 and dice.random() < 0.7
        attributes = " {{ignore_index = 0 : i64}}" if ignored else ""
        return self.graph.add(f"weft.accuracy {{0}}, {{1}}{attributes} : {{t0}}, {{t1}}", [logits, targets], (),
                              (0.0, 1.0))
