"""Instructions and loads of kernels in PTX."""
import functools
import re

from threads import Counts, Instruction, Kernel, Unknown

LOAD = re.compile(r"^ld\.global(?:\.[a-z]+\w*)*?(?:\.v(\d))?\.[a-z](\d+)$")
TYPE = re.compile(r"^([bus])(8|16|32|64)$")
SPECIAL = re.compile(r"^%(tid|ntid|ctaid)\.([xyz])$")
# Instructions that move a pointer, by their results.
POINTERS = ("add", "sub", "mov", "cvta", "mad", "selp", "or")


def kernels(text):
    """The text of each kernel, by its symbol."""
    parts = re.split(r"\.entry (\w+)", text)
    return dict(zip(parts[1::2], parts[2::2]))


def parse(text):
    """Labels and instructions of a kernel, in order."""
    items, depth = [], 1
    for line in text[text.index("{") + 1:].splitlines():
        line = line.split("//")[0].strip()
        depth += (line == "{") - (line == "}")  # calls have scopes of their own
        if depth == 0:
            break
        if line.endswith(":"):
            items.append(line[:-1])
        elif line.endswith(";") and not line.startswith("."):
            items.append(parse_instruction(line[:-1]))
    return items


def parse_instruction(line):
    guard, rest = re.match(r"(?:@(!?%\w+)\s+)?(.*)", line).groups()
    opcode, *operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", rest)
    name = opcode.split(".")[0]
    found = Instruction(line, opcode, operands, (guard[0] != "!", guard.lstrip("!")) if guard else None,
                        target=operands[-1] if name == "bra" else None, ends=name in ("ret", "exit"),
                        calls=name == "call")
    writes = name not in ("st", "bra", "ret", "bar", "red", "call", "membar", "fence") and operands
    found.writes = tuple(re.findall(r"%\w+", operands[0])) if writes else ()
    reads = operands[1:] if writes else operands
    found.depends = "%tid" in rest
    found.sources = [reader(text) for text in operands[1:]]
    found.parts = opcode.split(".")
    found.reads = tuple(re.findall(r"%\w+", " ".join(reads) + " " + (guard or ""))) + (found.writes if guard else ())
    return found


@functools.lru_cache(maxsize=None)
def reader(text):
    """A function that reads an operand of a thread: an integer, or None."""
    special = SPECIAL.match(text)
    if special:
        kind, axis = special.group(1), "xyz".index(special.group(2))
        return lambda thread: {"tid": (thread.x, thread.y, 0), "ntid": (*thread.shape, 1),
                               "ctaid": (0, 0, 0)}[kind][axis]
    if text.startswith("%"):
        return lambda thread: thread.registers.get(text)
    number = int(text, 0) if re.match(r"^-?(0x[0-9A-Fa-f]+|\d+)$", text) else None
    return lambda thread: number


COMPARISONS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
               "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
FUNCTIONS = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
             "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "min": min, "max": max,
             "shl": lambda a, b: a << min(b, 64), "shr": lambda a, b: a >> min(b, 64),
             "div": lambda a, b: a // b if b > 0 and a >= 0 else None,
             "rem": lambda a, b: a % b if b > 0 and a >= 0 else None,
             "mov": lambda a: a, "cvt": lambda a: a, "not": lambda a: ~a, "selp": lambda a, b, p: a if p else b,
             "mad": lambda a, b, c: a * b + c}


@functools.lru_cache(maxsize=None)
def bits_of(part):
    found = TYPE.match(part)
    return int(found.group(2)) if found else 1 if part == "pred" else None


def wrap(value, part):
    """A number as one of the type `part`."""
    bits = bits_of(part)
    value &= (1 << bits) - 1
    return value - (1 << bits) if part.startswith("s") and value >> (bits - 1) else value


def evaluate(parts, values):
    """The result of an instruction of integers, or None."""
    name, kind = parts[0], parts[-1]
    if name not in FUNCTIONS and name != "setp" or bits_of(kind) is None or None in values:
        return None
    narrow = [wrap(value, kind) for value in values]
    if name == "setp":
        return int(COMPARISONS[parts[1]](*narrow)) if parts[1] in COMPARISONS and len(parts) == 3 else None
    if name == "selp":
        narrow[2] = values[2]
    elif name in ("shl", "shr"):
        narrow[1] = values[1] & 0xffffffff
    elif name == "mad" and "wide" in parts:
        narrow[2] = values[2]
    result = FUNCTIONS[name](*narrow)
    if result is None:
        return None
    if "hi" in parts:
        result >>= bits_of(kind)
    to = parts[-2] if name == "cvt" else kind
    if bits_of(to) is None:
        return None
    width = bits_of(to) * (2 if "wide" in parts else 1)
    return result & ((1 << width) - 1)


def execute(instruction, thread):
    values = [read(thread) for read in instruction.sources]
    result = evaluate(instruction.parts, values) if len(instruction.writes) == 1 else None
    for name in instruction.writes:
        thread.registers[name] = result


def owners(items):
    """The number of the argument whose buffer a register points into, by the register."""
    found, grows = {}, True
    while grows:
        grows = False
        for item in items:
            if isinstance(item, str) or len(item.writes) != 1 or item.writes[0] in found:
                continue
            number = re.search(r"_param_(\d+)", item.operands[1]) if item.opcode.startswith("ld.param") else None
            owner = int(number.group(1)) if number else None
            if item.opcode.split(".")[0] in POINTERS:
                owner = next((found[name] for name in item.reads if name in found), None)
            if owner is not None:
                found[item.writes[0]] = owner
                grows = True
    return found


def count(text, shape):
    """Of one block of shape [x, y]: instructions that its warps issue, and the bytes that its threads load, by the
    number of the argument. The argument is None where the pointer comes from elsewhere."""
    items = parse(text)
    kernel = Kernel(items, execute)
    counts, owner, loads = Counts(kernel, shape), owners(items), {}
    for block, executed in zip(kernel.blocks, counts.executed):
        for instruction in block:
            load = LOAD.match(instruction.opcode)
            if not load:
                continue
            if instruction.guard:
                raise Unknown("a load depends on a predicate: " + instruction.text)
            pointer = re.search(r"%\w+", instruction.operands[1])
            argument = owner.get(pointer.group(0)) if pointer else None
            size = int(load.group(1) or 1) * int(load.group(2)) // 8
            loads[argument] = loads.get(argument, 0) + size * executed
    return counts.issued, loads
