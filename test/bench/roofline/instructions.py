"""Instructions of the kernels of a program for a GPU: counted in PTX, and in machine code where nvdisasm is at hand."""
import os
import shutil
import struct

import ptx
import sass
from threads import WARP, Unknown


def find_nvdisasm():
    """The path of NVIDIA's disassembler, or None."""
    home = os.environ.get("WEFT_CUDA_HOME") or os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    own = os.path.join(home, "bin", "nvdisasm")
    return own if os.path.exists(own) else shutil.which("nvdisasm")


def section_of(program, name):
    """The bytes of a section of an ELF file of 64 bits; None if it has none of that name."""
    with open(program, "rb") as file:
        content = file.read()
    table, = struct.unpack_from("<Q", content, 0x28)
    size, count, names = struct.unpack_from("<HHH", content, 0x3a)
    headers = [struct.unpack_from("<IIQQQQ", content, table + i * size) for i in range(count)]
    texts = content[headers[names][4]:headers[names][4] + headers[names][5]]
    for header in headers:
        if texts[header[0]:texts.index(b"\0", header[0])].decode() == name:
            return content[header[4]:header[4] + header[5]]
    return None


def disassemble(program, chip, nvdisasm, folder, call):
    """The machine code of the generated kernels of a program, as text."""
    image = os.path.join(folder, "image.cubin")
    with open(image, "wb") as file:
        file.write(section_of(program, f".weft.{chip}"))
    return call([nvdisasm, "-c", image])


class Counter:
    """Counts by the symbol of a kernel, which names its code: programs share them."""

    def __init__(self):
        self.known = {}

    def add(self, ptx_text, sass_text, launches):
        """Counts the kernels of a program. launches: blocks of the grid and threads of a block along x and y, by
        symbol; the first block stands for all."""
        in_ptx, in_sass = ptx.kernels(ptx_text), sass.kernels(sass_text) if sass_text else {}
        for symbol, (blocks, *shape) in launches.items():
            if symbol in self.known or symbol not in in_ptx:
                continue
            entry = {"ptx": None, "sass": None, "loads": None, "unknown": None}
            try:
                issued, loads = ptx.count(in_ptx[symbol], shape)
                entry["ptx"], entry["loads"] = issued * blocks, {str(k): v * blocks for k, v in loads.items()}
                if symbol in in_sass:
                    entry["sass"] = sass.count(in_sass[symbol], shape) * blocks
            except Unknown as reason:
                entry["unknown"] = str(reason)
            self.known[symbol] = entry

    def issued(self):
        """Instructions of warps by symbol, of machine code where that was counted."""
        counts = {symbol: entry["sass"] or entry["ptx"] for symbol, entry in self.known.items()}
        return {symbol: count for symbol, count in counts.items() if count is not None}


def elements_of(name):
    """The elements that a command's name gives: `gelu 32x1024x3072 f16`."""
    count = 1
    for size in name.split()[1].split("x"):
        count *= int(size)
    return count


def per_element(commands, known, chosen):
    """Instructions of threads per element of the kernels that `chosen` (name -> bool) accepts, which run on the same
    elements; by the kind of code that was counted in all of them."""
    symbols = {command["symbol"]: command["name"] for command in commands
               if command["generated"] and chosen(command["name"])}
    found = {}
    for code in ("ptx", "sass"):
        counts = [known.get(symbol, {}).get(code) for symbol in symbols]
        if counts and None not in counts:
            found[code] = sum(count * WARP / elements_of(name) for count, name in zip(counts, symbols.values()))
    return found
