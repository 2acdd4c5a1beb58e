"""Meshes as tests name them: "3" ranks, or "2x2", two replicas of two slices."""


def text_of(mesh):
    """The value of --mesh."""
    if "x" not in mesh:
        return f"dp:{mesh}"
    replicas, slices = mesh.split("x")
    return f"replica:{replicas},shard:{slices}"


def count_ranks(mesh):
    ranks = 1
    for axis in mesh.split("x"):
        ranks *= int(axis)
    return str(ranks)
