"""Control flow of one block of a kernel.

Integers that branches depend on are computed, for each thread; everything else is unknown: floats, pointers and what is
loaded. The instructions that a warp issues follow from the branches. Of the two ways behind a branch on an unknown
predicate the one with more instructions counts, except around a call: code generators call the slow paths of divisions
and roots, for operands that are not normal numbers, so calls are passed by. Too many such branches, or one that leads
back, are an error (Unknown).
"""
import copy

WARP = 32
MOST_BLOCKS = 1000000  # that one thread runs through
MOST_WAYS = 64  # of one thread, where data decides


class Unknown(Exception):
    """The count depends on data."""


class Instruction:
    """One instruction: `guard` is the sign and the name of a predicate, or None; `target` the label of a branch, or
    None. `reads` and `writes` are names of registers, with the guard."""

    def __init__(self, text, opcode, operands, guard=None, target=None, ends=False, calls=False):
        self.text, self.opcode, self.operands, self.guard = text, opcode, operands, guard
        self.target, self.ends, self.calls = target, ends, calls
        self.reads, self.writes = (), ()
        self.name = opcode.split(".")[0]
        self.depends = True  # on the number of the thread

    def cuts(self):
        return self.target is not None or self.ends


class Thread:
    """The place of a thread in its block, and the numbers of its registers; None is unknown."""

    def __init__(self, number, shape):
        self.shape, self.registers = shape, {}
        self.x = number % shape[0]
        self.y = number // shape[0] % shape[1]
        self.lane = number % WARP

    def allows(self, guard):
        """Whether a predicate holds, or None."""
        if guard is None:
            return True
        sign, name = guard
        value = self.registers.get(name)
        return None if value is None else bool(value) == sign


def copy_thread(thread):
    copied = copy.copy(thread)
    copied.registers = dict(thread.registers)
    return copied


def cut(items):
    """Lists of instructions of which only the last may branch, and the number of the list of each label."""
    blocks, labels, current = [], {}, []
    for item in items:
        if isinstance(item, str):
            blocks, current = blocks + [current] if current else blocks, []
            labels[item] = len(blocks)
            continue
        current.append(item)
        if item.cuts():
            blocks, current = blocks + [current], []
    return blocks + [current] if current else blocks, labels


def relevant(items):
    """The instructions that branches depend on."""
    instructions = [item for item in items if not isinstance(item, str)]
    needed = {item.guard[1] for item in instructions if item.guard and item.cuts()}
    found, grows = set(), True
    while grows:
        grows = False
        for item in instructions:
            if item not in found and needed.intersection(item.writes):
                found.add(item)
                needed.update(item.reads)
                grows = True
    return found


class Kernel:
    """Labels and instructions of a kernel, in order. `execute(instruction, thread)` gives the registers that an
    instruction writes their numbers."""

    def __init__(self, items, execute):
        self.blocks, self.labels = cut(items)
        self.execute = execute
        computed = relevant(items)
        self.is_alike = not any(item.depends for item in computed)
        self.computed = [[item for item in block if item in computed] for block in self.blocks]

    def visits(self, thread):
        """How often a thread runs each block: of all ways that data may choose, on the longest."""
        self.ways = 0
        return self.walk(thread, 0)

    def walk(self, thread, at):
        counts = [0] * len(self.blocks)
        for _ in range(MOST_BLOCKS):
            if at == len(self.blocks):
                return counts
            counts[at] += 1
            for instruction in self.computed[at]:
                self.run(instruction, thread)
            followers = self.next(at, thread)
            if len(followers) == 2:
                return self.add_longer(counts, thread, followers)
            at = followers[0]
        raise Unknown(f"a thread runs more than {MOST_BLOCKS} blocks")

    def add_longer(self, counts, thread, followers):
        self.ways += 1
        if self.ways > MOST_WAYS:
            raise Unknown(f"data decides on more than {MOST_WAYS} ways")
        ways = [self.walk(copy_thread(thread), at) for at in followers]
        longer = max(ways, key=lambda way: sum(n * len(block) for n, block in zip(way, self.blocks)))
        return [n + more for n, more in zip(counts, longer)]

    def run(self, instruction, thread):
        allowed = thread.allows(instruction.guard)
        if allowed is None:
            for name in instruction.writes:
                thread.registers[name] = None
        elif allowed:
            self.execute(instruction, thread)

    def next(self, at, thread):
        """The blocks that may follow: one, or two if data decides."""
        last = self.blocks[at][-1]
        if not last.cuts():
            return [at + 1]
        target = len(self.blocks) if last.ends else self.labels[last.target]
        taken = thread.allows(last.guard)
        if taken is None:
            return self.where_data_decides(last, at, target)
        return [target if taken else at + 1]

    def where_data_decides(self, branch, at, target):
        def calls(blocks):
            return any(instruction.calls for block in blocks for instruction in block)

        skips = not branch.ends and calls(self.blocks[at + 1:target])
        enters = not branch.ends and calls(self.blocks[target:target + 1])
        if skips != enters:
            return [target if skips else at + 1]
        if target <= at:
            raise Unknown("a branch back depends on data: " + branch.text)
        return [at + 1, target]


class Counts:
    """Of one block: `issued` by its warps, and `executed` by its threads for each list of instructions."""

    def __init__(self, kernel, shape):
        count = shape[0] * shape[1]
        if kernel.is_alike:
            threads = [kernel.visits(Thread(0, shape))] * count
        else:
            threads = [kernel.visits(Thread(number, shape)) for number in range(count)]
        self.issued = 0
        for first in range(0, len(threads), WARP):
            # Threads of a warp that take different ways meet again.
            lanes = zip(*threads[first:first + WARP])
            self.issued += sum(max(visits) * len(block) for visits, block in zip(lanes, kernel.blocks))
        self.executed = [sum(visits) for visits in zip(*threads)]
