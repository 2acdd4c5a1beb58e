#!/usr/bin/env bash
# Trains a small GPT on four ranks of this machine, each with a quarter of its
# parameters, gradients and moments (ZeRO stage 3), and exports the weights.
#
# usage: examples/four_ranks.sh [FOLDER [STEPS]], after scripts/build.sh
# FOLDER: default a new temporary folder, which stays
set -euo pipefail
case ${1:-} in
-*)
  echo "usage: four_ranks.sh [FOLDER [STEPS]]" >&2
  exit 2
  ;;
esac
top=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$(mktemp -d "${TMPDIR:-/tmp}/four-ranks.XXXXXX")}
steps=${2:-40}
weft=${WEFT:-$top/build/bin/weft}
if [ ! -x "$weft" ]; then
  echo "four_ranks.sh: error: expects $weft (scripts/build.sh makes it, WEFT names another one)" >&2
  exit 2
fi

mkdir -p "$out"
"$weft" compile "$top/examples/gpt2-mini" --batch 2 --seq 64 --mesh=dp:4 --zero=3 -o "$out/gpt"
"$weft" inspect "$out/gpt" --sharding
"$weft" launch "$out/gpt" --data "$top/README.md" --steps "$steps" --lr 2e-3 --clip 1 \
  --save-dir "$out/checkpoints" --resume auto
"$weft" ckpt export "$out/checkpoints" "$out/export" --overwrite
echo "checkpoints and weights are in $out"
