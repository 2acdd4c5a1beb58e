#!/usr/bin/env bash
# Installs missing packages, builds weft, compiles a small GPT and trains it on
# the Markdown and C++ of this repository; shows the falling loss and a sample.
# Ends with an error if the last loss is above 0.75 of the first.
# Usage: quickstart.sh [--no-root]
#   --no-root   install nothing: name the missing packages
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/usage.sh"
if [ $# -gt 1 ] || [ "${1:---no-root}" != --no-root ]; then
  echo "quickstart.sh: error: expects --no-root or nothing, but got $*" >&2
  exit 1
fi
cd "$top"
scripts/install-deps.sh "$@"
scripts/build.sh weft

out=build/quickstart
rm -rf "$out" && mkdir -p "$out"
find README.md docs include kernels lib test tools -name '*.md' -o -name '*.cpp' -o -name '*.h' -o -name '*.td' |
  LC_ALL=C sort | xargs cat >"$out/corpus.txt"
echo "corpus: $(wc -c <"$out/corpus.txt") bytes"

build/bin/weft train examples/gpt2-mini --batch 8 --seq 128 \
  --data "$out/corpus.txt" --val-fraction 0.05 --steps 1500 --lr 2e-3 \
  --lr-schedule cosine --warmup 50 --clip 1 --log-every 100 --eval-every 500 --eval-steps 20 \
  --metrics "$out/metrics.jsonl" --save-dir "$out/checkpoints" \
  --generate "The " --max-new-tokens 200 --temperature 0.8

python3 - "$out/metrics.jsonl" <<'PY'
import json
import sys

losses = [entry["loss"] for entry in map(json.loads, open(sys.argv[1])) if "loss" in entry]
print(f"loss: {losses[0]:.3f} at the first step, {losses[-1]:.3f} at the last")
if not losses[-1] <= 0.75 * losses[0]:
    sys.exit("quickstart: error: the loss did not fall to 0.75 of its first value")
PY
