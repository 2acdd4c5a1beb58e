#!/usr/bin/env bash
# Installs missing packages, builds, and runs the first tier of tests. The last
# line is `N passed, N failed, N skipped`.
# Usage: test.sh [--full | --list]
#   --full   the second tier: long forms, sanitizers, fuzzers (hours, resumable)
#   --list   the tests of both tiers
#
# Tests of programs for CUDA devices need a CUDA toolkit, some of them cuDNN or
# NCCL, and are skipped where there is none (WEFT_CUDA_HOME, CUDA_HOME, PATH,
# /usr/local/cuda). WEFT_TEST_CUDA=1 gets all of them first, with
# scripts/setup-cuda.sh --cudnn --nccl; where that fails, nothing is tested.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -gt 1 ]; then
  echo "test.sh: error: expects one word, --full or --list, but got $*" >&2
  exit 1
fi
case ${1:-} in
'' | --full) ;;
--list) exec python3 "$top/scripts/test-tiers.py" ;;
*)
  echo "test.sh: error: expects --full, --list or nothing, but got $1" >&2
  exit 1
  ;;
esac
"$top/scripts/install-deps.sh"
case ${WEFT_TEST_CUDA:-} in
'') ;;
1)
  line=$("$top/scripts/setup-cuda.sh" --cudnn --nccl)
  eval "$line"
  ;;
*)
  echo "test.sh: error: expects WEFT_TEST_CUDA to be 1 or unset, but got $WEFT_TEST_CUDA" >&2
  exit 1
  ;;
esac
if [ "${1:-}" = --full ]; then
  exec "$top/scripts/test-full.sh"
fi
"$top/scripts/build.sh" all weft-unit-tests
exec "$top/scripts/run-tests.sh"
