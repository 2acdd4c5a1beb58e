"""Instructions of kernels in machine code, as `nvdisasm -c` of CUDA 12 and 13 prints it."""
import functools
import re
import struct

from threads import Counts, Instruction, Kernel

WORD = 0xffffffff
LINE = re.compile(r"/\*[0-9a-f]+\*/\s+(?:@(!?)(U?P\w)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
REGISTER = re.compile(r"^[-~|!]*(U?)R(\d+)")
PREDICATE = re.compile(r"^!?U?P[0-9T]$")
WRITES_NOTHING = ("ST", "STG", "STS", "STL", "BAR", "BRA", "BSSY", "BSYNC", "EXIT", "NOP", "RET", "RED", "CALL",
                  "MEMBAR", "WARPSYNC", "YIELD", "ERRBAR", "CCTL", "DEPBAR", "UCGABAR_WAIT", "FENCE")


def kernels(text):
    """The text of each kernel, by its symbol."""
    parts = re.split(r"^\s*\.section\s+\.text\.(\w+),.*$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def parse(text):
    """Labels and instructions of a kernel, in order."""
    items = []
    for line in text.splitlines():
        label = re.match(r"^(\S+):$", line.strip())
        if label:
            items.append(label.group(1))
            continue
        found = LINE.search(line)
        if found:
            items.append(make_instruction(line.strip(), found))
    return items


def make_instruction(line, found):
    sign, predicate, opcode, rest = found.groups()
    operands = [part.strip().replace(".reuse", "") for part in rest.split(",")] if rest else []
    guard = (sign != "!", predicate) if predicate else None
    name, target = opcode.split(".")[0], None
    if name == "BRA" and ".DIV" not in opcode:
        target = re.search(r"`\((.*)\)", rest).group(1)
        if PREDICATE.match(operands[0]):
            guard = (operands[0][0] != "!", operands[0].lstrip("!"))
    made = Instruction(line, opcode, operands, guard, target, ends=name in ("EXIT", "RET"), calls=name == "CALL")
    results = results_of(name, operands)
    width = width_of(opcode)
    made.writes = tuple(register for text in operands[:results] for register in registers_of(text, width))
    # A pair may be read by any instruction that knows pairs.
    made.reads = tuple(register for text in operands[results:]
                       for register in registers_of(text, 2 if "WIDE" in opcode or "64" in opcode else 1))
    if guard:
        made.reads += (guard[1], *made.writes)
    made.depends = "SR_TID" in rest or "SR_LANEID" in rest
    made.name, made.results, made.sources = name.removeprefix("U"), results, operands[results:]
    made.readers = [reader(text) for text in made.sources]
    # RZ and PT take no number.
    made.places = [place for text in operands[:results] for place in registers_of(text, width) or [None]]
    return made


def results_of(name, operands):
    """How many of the operands an instruction writes: a register, and predicates beside it."""
    if name in WRITES_NOTHING or not operands:
        return 0
    count = 1
    while count < len(operands) and PREDICATE.match(operands[count]) and name not in ("SEL", "FSEL", "R2P"):
        count += 1
        if PREDICATE.match(operands[0]) and count == 2:
            return 2
    return 2 if PREDICATE.match(operands[0]) and count == 1 and name in ("LOP3", "ULOP3", "SHFL") else count


def width_of(opcode):
    """Registers of a result."""
    if ".128" in opcode:
        return 4
    return 2 if re.search(r"\.WIDE|\.64|\.F64|^D[A-Z]+|^CS2R", opcode) else 1


def registers_of(text, width):
    """Names of registers in an operand; of an address too."""
    names = re.findall(r"\bU?P[0-6]\b", text)
    for kind, number in re.findall(r"\b(U?)R(\d+)\b", text):
        names += [f"{kind}R{int(number) + i}" for i in range(width)]
    return names


@functools.lru_cache(maxsize=None)
def reader(text):
    """A function that reads a word of a thread, or a predicate; None if it is unknown."""
    if PREDICATE.match(text):
        name, sign = text.lstrip("!"), text[0] != "!"
        if name in ("PT", "UPT"):
            return lambda thread: sign
        return lambda thread: None if thread.registers.get(name) is None else bool(thread.registers[name]) == sign
    if re.match(r"^-?0x[0-9a-f]+$", text):
        number = int(text, 0) & WORD
        return lambda thread: number
    sign, name = re.match(r"^([-~]?)(.*)$", text).groups()
    if name in ("RZ", "URZ", "SRZ"):
        return lambda thread: {"": 0, "-": 0, "~": WORD}[sign]
    if not re.match(r"^U?R\d+$", name):
        return lambda thread: None
    # A negative number is its complement and a carry.
    change = {"": lambda number: number, "-": lambda number: (~number & WORD) + 1,
              "~": lambda number: ~number & WORD}[sign]
    return lambda thread: None if thread.registers.get(name) is None else change(thread.registers[name])


def next_register(text):
    """The upper half of a pair."""
    found = re.match(r"^(U?R)(\d+)$", text)
    return f"{found.group(1)}{int(found.group(2)) + 1}" if found else "RZ"


def signed(number):
    number &= WORD
    return number - (WORD + 1) if number >> 31 else number


def look_up(table, a, b, c):
    """Bit by bit, the entry of a table of 8 bits for the bits of three words."""
    result = 0
    for entry in range(8):
        if table >> entry & 1:
            term = WORD
            for word, bit in ((a, 4), (b, 2), (c, 1)):
                term &= word if entry & bit else ~word
            result |= term
    return result & WORD


def add(opcode, values, carries):
    """The sum of words and carries: the word, and how often it overflows."""
    total = sum(values) + sum(int(carry) for carry in carries)
    return total & WORD, total >> 32


def compare(opcode, a, b, combined, low):
    parts = opcode.split(".")
    if "U32" not in parts:
        a, b = signed(a), signed(b)
    relation = parts[1]
    if low is None:
        holds = {"LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b, "EQ": a == b, "NE": a != b}[relation]
    else:  # the upper halves of pairs, whose lower halves compare as `low`
        holds = {"L": a < b, "G": a > b, "E": False, "N": a != b}[relation[0]] or (a == b and low)
    return (holds and combined) if "AND" in parts else (holds or combined)


def shift(opcode, a, amount, c):
    pair = c << 32 | a
    if ".R" in opcode:
        pair = (signed(c) << 32 | a) if ".S" in opcode else pair
        pair >>= amount & 63
    else:
        pair <<= amount & 63
    return (pair >> 32 if ".HI" in opcode else pair) & WORD


def special(text, thread):
    return {"SR_TID.X": thread.x, "SR_TID.Y": thread.y, "SR_TID.Z": 0, "SR_CTAID.X": 0, "SR_CTAID.Y": 0,
            "SR_CTAID.Z": 0, "SR_LANEID": thread.lane, "SRZ": 0}.get(text)


def multiply(opcode, a, b, values):
    if "U32" not in opcode and ("WIDE" in opcode or "HI" in opcode):
        a, b = signed(a), signed(b)
    product = a * b
    return (product >> 32 if ".HI" in opcode else product) + values


def compute(instruction, thread):
    """The numbers of the operands that an instruction writes; None for a number that is not known."""
    opcode, name, sources, results = instruction.opcode, instruction.name, instruction.sources, instruction.results
    if name in ("S2R", "S2UR", "CS2R"):
        number = special(sources[0], thread)
        return [number] + ([0 if number == 0 else None] if name == "CS2R" else [])
    if name == "HFMA2" and sources[:2] == ["-RZ", "RZ"]:
        return [half(sources[2]) << 16 | half(sources[3])]
    values = [read(thread) for read in instruction.readers]
    if name == "IMAD" and "WIDE" in opcode:
        high = reader(next_register(sources[2]))(thread)
        values = None if None in values[:3] or high is None else multiply(opcode, *values[:2], high << 32 | values[2])
        return [None, None] if values is None else [values & WORD, values >> 32 & WORD]
    if None in values:
        return []
    if name in ("IADD3", "IMAD") and values[-1:] and "HI" not in opcode:
        carries = [value for text, value in zip(sources, values) if PREDICATE.match(text)]
        words = values[:3] if name == "IADD3" else [multiply(opcode, *values[:2], values[2])]
        word, over = add(opcode, words, carries)
        return [word] + [over > i for i in range(results - 1)]
    if name == "IMAD":
        return [multiply(opcode, *values[:3]) & WORD]
    if name in ("IADD", "VIADD"):
        return [sum(values[:2]) & WORD]
    if name in ("MOV", "R2UR"):
        return [values[0] & WORD]
    if name == "ISETP":
        return [compare(opcode, values[0] & WORD, values[1] & WORD, values[2], values[3] if ".EX" in opcode else None)]
    if name == "LOP3":
        word = look_up(values[3], *(value & WORD for value in values[:3]))
        return [word != 0, word] if PREDICATE.match(instruction.operands[0]) else [word]
    if name == "PLOP3":
        return [look_up(values[3], *(WORD if value else 0 for value in values[:3])) != 0]
    if name == "SEL":
        return [(values[0] if values[2] else values[1]) & WORD]
    if name == "SHF":
        return [shift(opcode, values[0] & WORD, values[1], values[2] & WORD)]
    if name in ("IMNMX", "VIMNMX"):
        words = [value & WORD if "U32" in opcode else signed(value) for value in values[:2]]
        return [(min if values[2] else max)(words) & WORD]
    if name == "LEA":
        return lea(opcode, sources, values, results)
    return []


def lea(opcode, sources, values, results):
    carries = [value for text, value in zip(sources, values) if PREDICATE.match(text)]
    words = [value for text, value in zip(sources, values) if not PREDICATE.match(text)]
    if ".HI" in opcode:
        a, addend, high, amount = words
        scaled = ((high << 32 | a) << amount >> 32) & WORD
    else:
        a, addend, amount = words
        scaled = a << amount & WORD
    word, over = add(opcode, [scaled, addend], carries)
    return [word] + [over > i for i in range(results - 1)]


def half(text):
    """The bits of a constant of two f16, which moves an integer."""
    return struct.unpack("<H", struct.pack("<e", float(text)))[0]


def execute(instruction, thread):
    numbers = compute(instruction, thread)
    for i, place in enumerate(instruction.places):
        if place:
            thread.registers[place] = numbers[i] if i < len(numbers) else None


def count(text, shape):
    """Of one block of shape [x, y]: instructions that its warps issue."""
    return Counts(Kernel(parse(text), execute), shape).issued
