"""expect-exit.py CODE -- COMMAND...: runs it; fails unless it ends with CODE."""

import subprocess
import sys

expected = int(sys.argv[1])
code = subprocess.run(sys.argv[3:]).returncode
if code != expected:
    sys.exit(f"expects exit code {expected}, but got {code}: {' '.join(sys.argv[3:])}")
