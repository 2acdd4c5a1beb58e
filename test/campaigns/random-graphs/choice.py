"""Leaves of a graph, and the choice of the nodes that an op reads."""
import random

from graph import Graph, count

# Bound of every value.
LIMIT = 24.0
SIZES = [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 33]


def broadcast(*shapes):
    """The common shape, or None."""
    rank = max(len(shape) for shape in shapes)
    result = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[i] not in (1, size):
                return None
            result[i] = max(result[i], size)
    return tuple(result)


class Choice:
    """A graph that grows, and the random choices about it."""

    def __init__(self, seed, precision):
        self.chance = "bce" if precision == "f32" else "mse"
        self.random = random.Random(seed)
        self.graph = Graph(seed)
        self.nodes = self.graph.nodes
        self.batch = self.random.choice([1, 1, 2, 3, 4, 5, 8])
        self.sizes = self.random.sample(SIZES, 4) + [self.batch]
        self.most = 2048 if self.random.random() < 0.9 else 20000
        self.dropouts = 0

    # Leaves

    def param(self, shape, low=-1.0, high=1.0):
        index = self.graph.add("param", [], shape, (low, high))
        self.nodes[index].is_frozen = self.random.random() < 0.08
        return index

    def constant(self, shape, low=-1.0, high=1.0):
        if self.random.random() < 0.5:
            low = high = round(self.random.uniform(low, high), 3)
        return self.graph.add("constant", [], shape, (low, high))

    def input(self, rank):
        shape = []
        while len(shape) < rank and count(shape) * self.batch * 33 <= self.most:
            shape.append(self.random.choice(self.sizes))
        return self.graph.add("input", [], (self.batch, *shape), (-1.0, 1.0))

    def leaf(self, shape, low=-1.0, high=1.0):
        make = self.constant if self.random.random() < 0.2 else self.param
        return make(shape, low, high)

    def indices(self, shape, choices):
        is_input = shape and shape[0] == self.batch and self.random.random() < 0.7
        return self.graph.add("input" if is_input else "constant", [], shape,
                              (0, choices - 1), dtype="i32")

    # Choice

    def pick(self, accepts=lambda node: True, dtype="f32"):
        """A node, one of the latest more often than not; None if none is fit."""
        fit = [i for i, node in enumerate(self.nodes) if node.dtype == dtype and accepts(node)]
        if not fit:
            return None
        return self.random.choice(fit[-4:] if self.random.random() < 0.6 else fit)

    def partner(self, a, dtype="f32", accepts=lambda node: True):
        """A node that broadcasts with `a` to a shape that is not too large."""
        def fits(node):
            shape = broadcast(node.shape, self.nodes[a].shape)
            return shape is not None and count(shape) <= self.most and accepts(node)
        found = self.pick(fits, dtype) if self.random.random() < 0.75 else None
        if found is not None or dtype != "f32":
            return found
        shape = [1 if self.random.random() < 0.25 else size for size in self.nodes[a].shape]
        shape = shape[self.random.choice([0, 0, 0, 1, 2]):]
        leaf = self.leaf(shape, *self.random.choice([(-1.0, 1.0), (0.5, 1.5)]))
        return leaf if accepts(self.nodes[leaf]) else None

    def op(self, form, args, shape, bounds, dtype="f32", results=1):
        """Adds the node unless its values are too many or too large."""
        low, high = bounds
        if not (-LIMIT <= low <= high <= LIMIT) or count(shape) > self.most or 0 in shape:
            return None
        return self.graph.add(form, args, shape, bounds, dtype, results)
