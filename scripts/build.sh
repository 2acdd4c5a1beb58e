#!/usr/bin/env bash
# Configures and builds weft into build/. Arguments are ninja targets.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
cmake --preset release >build-configure.log 2>&1 || {
  cat build-configure.log >&2
  exit 1
}
mkdir -p build && mv build-configure.log build/configure.log
cmake --build build --target "${@:-all}"
