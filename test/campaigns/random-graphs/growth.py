"""Grows a graph of random ops."""
import random

from graph import count
from ops import Ops


class Growth(Ops):
    """From an input to a loss."""

    def step(self):
        kinds = {
            self.unary: 8, self.binary: 12, self.compare: 1, self.logical: 1, self.select: 2,
            self.cast: 1, self.reshape: 4, self.broadcast: 4, self.transpose: 2, self.slice: 2,
            self.pad: 1, self.concat: 2, self.materialize: 0.5, self.reduce: 6, self.softmax: 3,
            self.norm: 2, self.matmul: 3, self.embedding: 1, self.attention: 1, self.rope: 1,
            self.fold4: 1, self.dropout: 0.5, self.pair_loss: 1, self.cross_entropy: 1,
        }
        if self.graph.seed % 4 == 2:
            kinds[self.layer_drop] = 6
            kinds[self.shared_layer] = 3
        if self.graph.seed % 6 == 2:  # some of those whose values are computed again
            kinds[self.scaled_norm] = 4
        for _ in range(20):
            grow = self.random.choices(list(kinds), list(kinds.values()))[0]
            if grow() is not None:
                return

    def scalar(self, index):
        """A loss term of a node that nothing reads."""
        node = self.nodes[index]
        if node.dtype != "f32":
            index = self.graph.add("weft.cast {0} : {t0} to {t}", [index], node.shape, node.bounds)
        if node.shape == ():
            return index
        dims = list(range(len(node.shape)))
        kind = "sum" if count(node.shape) <= 64 and self.random.random() < 0.4 else "mean"
        return self.graph.add(f"weft.reduce {kind} {{0}} dims {dims} : {{t0}}", [index], (),
                              (-1e6, 1e6))

    def finish(self):
        users = self.graph.users()
        # Some values are used by the loss as well as by others.
        ends = [i for i, node in enumerate(self.nodes) if not node.is_leaf
                and (not users[i] or (node.dtype == "f32" and self.random.random() < 0.05))]
        weight = self.param(())
        self.nodes[weight].is_frozen = False
        anchor = self.graph.add("weft.mul {0}, {1} : {t0}, {t1}",
                                [self.first, weight], self.nodes[self.first].shape,
                                (-1.0, 1.0))
        terms = [self.scalar(i) for i in [*ends, anchor]]
        if len(terms) < 6 and self.random.random() < 0.3:
            self.graph.terms = [(term, round(self.random.uniform(0.25, 1.5), 3))
                                for term in terms]
            return
        self.random.shuffle(terms)
        total = terms.pop()
        for term in terms:
            total = self.graph.add("weft.add {0}, {1} : {t0}, {t1}", [total, term], (),
                                   (-1e6, 1e6))
        self.graph.terms = [(total, 1.0)]

    def report(self):
        """A metric of some graphs, by dice of its own: the loss of a seed keeps its ops."""
        dice = random.Random(f"metric {self.graph.seed}")
        fit = [i for i in self.graph.needed() if self.nodes[i].dtype == "f32" and not self.nodes[i].is_leaf
               and len(self.nodes[i].shape) > 1 and self.nodes[i].shape[-1] > 1]
        if fit and dice.random() < 0.6:
            self.graph.metrics = [self.accuracy(dice.choice(fit), dice)]

    def run(self):
        """About 5 to 100 ops, small graphs as often as large ones."""
        self.first = self.input(self.random.randint(0, 3))
        size = int(5 * 20 ** self.random.random())
        if self.random.random() < 0.3:
            self.input(1)
        while sum(not node.is_leaf for node in self.nodes) < size - 3:
            self.step()
        self.finish()
        self.report()
        return self.graph


def grow(seed, precision="f32"):
    return Growth(seed, precision).run()
