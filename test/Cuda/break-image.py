"""break-image.py PROGRAM OUT: the first machine code of the program says that it
is for another kind of machine (62, x86-64)."""
import sys

program, out = sys.argv[1:]
with open(program, "rb") as f:
    data = bytearray(f.read())
# The ELF header of a cubin: its type is 2, its machine 190.
at = 1
while data[at + 16:at + 20] != b"\2\0\xbe\0":
    at = data.index(b"\x7fELF", at + 1)
data[at + 18] = 62
with open(out, "wb") as f:
    f.write(data)
