#!/usr/bin/env bash
# Installs missing packages, builds, and runs the first tier of tests. The last
# line is `N passed, N failed, N skipped`.
# Usage: test.sh [--full | --list] [--no-root]
#   --full   the second tier: long forms, sanitizers, fuzzers (hours, resumable)
#   --list   the tests of both tiers
#   --no-root   install nothing: name the missing packages
#
# Tests of programs for CUDA devices need a CUDA toolkit, some of them cuDNN or
# NCCL, and are skipped where there is none (WEFT_CUDA_HOME, CUDA_HOME, PATH,
# /usr/local/cuda). WEFT_TEST_CUDA=1 gets all of them first, with
# scripts/setup-cuda.sh --cudnn --nccl; where that fails, nothing is tested.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/usage.sh"
tier= no_root=
for argument in "$@"; do
  case $argument in
  --no-root) no_root=--no-root ;;
  --full | --list)
    if [ -n "$tier" ]; then
      echo "test.sh: error: expects one word, --full or --list, but got $*" >&2
      exit 1
    fi
    tier=$argument
    ;;
  *)
    echo "test.sh: error: expects --full, --list, --no-root or nothing, but got $argument" >&2
    exit 1
    ;;
  esac
done
[ "$tier" != --list ] || exec python3 "$top/scripts/test-tiers.py"
"$top/scripts/install-deps.sh" ${no_root:+"$no_root"}
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
if [ "$tier" = --full ]; then
  exec "$top/scripts/test-full.sh"
fi
"$top/scripts/build.sh" all weft-unit-tests
exec "$top/scripts/run-tests.sh"
