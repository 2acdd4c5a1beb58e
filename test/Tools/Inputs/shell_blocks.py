"""shell_blocks.py README OUT: the shell blocks of a README as one script.

Takes every ```sh block but those that set the machine up (quickstart, test.sh,
install), in order: a block may use what an earlier one made.
"""
import re
import sys

SET_UP = re.compile(r"scripts/(quickstart|test|install-deps|build)\.sh")


def main(readme, out):
    with open(readme) as f:
        blocks = re.findall(r"^```sh\n(.*?)^```$", f.read(), flags=re.M | re.S)
    blocks = [block for block in blocks if not SET_UP.search(block)]
    if not blocks:
        sys.exit("readme: error: expects sh blocks, but got none")
    with open(out, "w") as f:
        f.write("set -eux\n" + "".join(blocks))
    print(f"{len(blocks)} blocks")


if __name__ == "__main__":
    main(*sys.argv[1:])
