"""Starts a command as ranks that meet over TCP, as torchrun does.

usage: start_ranks.py RANKS [NAME=VALUE...] [RANK:NAME=VALUE...] -- COMMAND...

The variables go to all ranks or, with a number in front, to that one; NAME=
without a value takes it away. Prints the exit codes, unless all are 0, and
exits with the greatest.
"""
import os
import socket
import subprocess
import sys


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def variables_of(rank, ranks, port, settings):
    found = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank),
                 LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    for setting in settings:
        name, value = setting.split("=", 1)
        whose, _, plain = name.rpartition(":")
        if whose and int(whose) != rank:
            continue
        found[plain] = value
        if not value:
            del found[plain]
    return found


def main():
    dashes = sys.argv.index("--")
    ranks, settings = int(sys.argv[1]), sys.argv[2:dashes]
    port = free_port()
    processes = [subprocess.Popen(sys.argv[dashes + 1:], env=variables_of(rank, ranks, port, settings))
                 for rank in range(ranks)]
    codes = [process.wait() for process in processes]
    if any(codes):
        print(f"ended with {codes}", file=sys.stderr)
    sys.exit(max(code if code >= 0 else 128 - code for code in codes))


if __name__ == "__main__":
    main()
