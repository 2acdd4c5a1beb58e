#!/usr/bin/env bash
# Configures and builds weft into build/.
# Usage: build.sh [TARGET]...   (ninja targets; default: all)
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/usage.sh"
for argument in "$@"; do
  case $argument in
  -*)
    echo "build.sh: error: expects ninja targets or nothing, but got $argument" >&2
    exit 1
    ;;
  esac
done
cd "$top"
cmake --preset release >build-configure.log 2>&1 || {
  cat build-configure.log >&2
  exit 1
}
mkdir -p build && mv build-configure.log build/configure.log
cmake --build build --target "${@:-all}"
