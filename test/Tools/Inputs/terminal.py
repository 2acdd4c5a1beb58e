"""terminal.py EXAMPLES: the same sample on a terminal and into a pipe."""

import os
import pty
import sys

from programs import make_language_model, make_programs, must, run

make_programs(sys.argv[1])
make_language_model(sys.argv[1])
command = ["./gpt", "--generate", "a\x07\tb\x1b[31m\n", "--max-new-tokens", "200", "--threads", "1"]
piped = must(command).stdout
assert piped.startswith(b"a\x07\tb\x1b[31m\n"), piped
assert len(piped) == len("a\x07\tb\x1b[31m\n") + 200 + 1, piped

master, slave = pty.openpty()
run(command, stdout=slave)
os.close(slave)
shown = b""
try:
    while data := os.read(master, 4096):
        shown += data
except OSError:  # how a terminal ends
    pass
shown = shown.replace(b"\r\n", b"\n")
assert shown.startswith(b"a\\x07\tb\\x1B[31m\n"), shown
text = shown.decode()  # well-formed UTF-8
assert not any(byte < " " and byte not in "\n\t" or "\x7f" <= byte < "\xa0" for byte in text), shown
print("a pipe gets bytes, a terminal text")
