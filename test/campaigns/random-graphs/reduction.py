"""Makes a graph that fails smaller."""
import copy

from graph import Graph


def copied(graph):
    result = Graph(graph.seed)
    result.nodes = [copy.copy(node) for node in graph.nodes]
    for node in result.nodes:
        node.args = list(node.args)
    result.terms, result.metrics = list(graph.terms), list(graph.metrics)
    return result


def without_term(graph, index):
    result = copied(graph)
    del result.terms[index]
    return result


def without_metrics(graph):
    result = copied(graph)
    result.metrics = []
    return result


def replaced(graph, index, other):
    """Users of a node read another one of the same type."""
    result = copied(graph)
    for node in result.nodes:
        node.args = [other if arg == index else arg for arg in node.args]
    result.terms = [(other if node == index else node, weight) for node, weight in result.terms]
    return result


def as_param(graph, index):
    """The node becomes a parameter with its shape and bounds."""
    result = copied(graph)
    node = result.nodes[index]
    node.form, node.args, node.results, node.is_frozen = "param", [], 1, False
    node.low, node.high = max(node.low, -8.0), min(node.high, 8.0)
    return result


def candidates(graph):
    """Smaller graphs, the smallest first."""
    if graph.metrics:
        yield without_metrics(graph)
    if len(graph.terms) > 1:
        for index in range(len(graph.terms)):
            yield without_term(graph, index)
    for index in reversed(graph.needed()):
        node = graph.nodes[index]
        if node.is_leaf:
            continue
        for arg in node.args:
            if graph.nodes[arg].type == node.type:
                yield replaced(graph, index, arg)
        if node.dtype == "f32" and index not in graph.outputs():
            yield as_param(graph, index)


def reduce(graph, fails, attempts=400):
    """The smallest graph found for which `fails` is still true."""
    while attempts > 0:
        for smaller in candidates(graph):
            if len(smaller.needed()) >= len(graph.needed()) and \
                    len(smaller.terms) >= len(graph.terms):
                continue
            attempts -= 1
            if fails(smaller):
                graph = smaller
                break
            if attempts <= 0:
                break
        else:
            break
    return graph
