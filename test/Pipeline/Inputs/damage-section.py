"""damage-section.py IN OUT NAME: an ELF file whose section NAME has a name that lies outside of the table of names."""
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
(table,) = struct.unpack_from("<Q", data, 0x28)
size, count, names = struct.unpack_from("<HHH", data, 0x3A)
(strings,) = struct.unpack_from("<Q", data, table + names * size + 0x18)
for index in range(count):
    at = table + index * size
    begin = strings + struct.unpack_from("<I", data, at)[0]
    if data[begin:data.index(b"\0", begin)] == sys.argv[3].encode():
        struct.pack_into("<I", data, at, 0x7FFFFFFF)
open(sys.argv[2], "wb").write(data)
