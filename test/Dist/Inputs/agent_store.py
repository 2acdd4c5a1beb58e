"""As start_ranks.py, of an agent that listens at MASTER_PORT itself and does not answer.

usage: agent_store.py RANKS [NAME=VALUE...] -- COMMAND...
"""
import socket
import subprocess
import sys

from start_ranks import variables_of


def main():
    dashes = sys.argv.index("--")
    ranks = int(sys.argv[1])
    with socket.create_server(("127.0.0.1", 0)) as store:
        settings = ["TORCHELASTIC_USE_AGENT_STORE=True", "TORCHELASTIC_RUN_ID=none", *sys.argv[2:dashes]]
        port = store.getsockname()[1]
        processes = [subprocess.Popen(sys.argv[dashes + 1:], env=variables_of(rank, ranks, port, settings))
                     for rank in range(ranks)]
        sys.exit(max(process.wait() for process in processes))


if __name__ == "__main__":
    main()
