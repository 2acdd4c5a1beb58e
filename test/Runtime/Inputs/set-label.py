"""set-label.py FROM TO ROW VALUE: a copy of a data file with another label."""
import json
import struct
import sys

source, target, row, value = sys.argv[1:]
data = bytearray(open(source, "rb").read())
size = struct.unpack_from("<Q", data)[0]
begin = json.loads(data[8:8 + size])["label"]["data_offsets"][0]
struct.pack_into("<i", data, 8 + size + begin + 4 * int(row), int(value))
open(target, "wb").write(data)
