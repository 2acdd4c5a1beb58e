"""terminal.py EXAMPLES [--ranks]: the same sample on a terminal and into a pipe, of one process or of two ranks."""

import os
import pty
import sys

from programs import make_language_model, make_programs, must, run

make_programs(sys.argv[1])
make_language_model(sys.argv[1])
prompt = b"a\x07\tb\xff\x1b[31m\n"
flags = ["--max-new-tokens", "200", "--threads", "1"]
command = ["./gpt", "--generate", prompt, *flags]
piped = must(command).stdout
assert piped.startswith(prompt), piped
assert len(piped) == len(prompt) + 200 + 1, piped
if "--ranks" in sys.argv:
    command = ["weft", "generate", "small", "--mesh", "dp:2", "--batch", "2", "--seq", "16", "--prompt", prompt, *flags]
    of_ranks = must(command).stdout
    assert of_ranks == piped, (of_ranks, piped)

for terminal in ["xterm", "dumb"]:
    master, slave = pty.openpty()
    result = run(command, stdout=slave, env={**os.environ, "TERM": terminal})
    assert result.returncode == 0, result.stderr
    os.close(slave)
    shown = b""
    try:
        while data := os.read(master, 4096):
            shown += data
    except OSError:  # how a terminal ends
        pass
    os.close(master)
    shown = shown.replace(b"\r\n", b"\n")
    assert shown.startswith(b"a\\x07\tb\\xFF\\x1B[31m\n"), shown
    text = shown.decode()  # well-formed UTF-8
    assert not any(byte < " " and byte not in "\n\t" or "\x7f" <= byte < "\xa0" for byte in text), shown
print("a pipe gets bytes, a terminal text")
