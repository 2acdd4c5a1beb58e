#!/usr/bin/env bash
# Downloads NVIDIA's wheels of Python packages into one folder and prints the
# line that makes weft use it. They hold all that programs for CUDA devices need
# to be compiled and run: ptxas, nvcc, libdevice, headers, cuBLASLt.
#
#   scripts/setup-cuda.sh [--no-cublas] [--cudnn] [--nccl] [FOLDER]
#
# FOLDER defaults to ~/.cache/weft/cuda. It appears only when it is complete;
# nothing is downloaded if it already holds the same packages. --no-cublas omits
# cuBLASLt (400 MB), which weft's build and running programs need;
# --cudnn adds cuDNN and its compiler NVRTC, for --attention=cudnn; --nccl
# adds NCCL, for several devices.
# PYTHON names the interpreter whose pip is used.
set -euo pipefail
. "$(dirname "$0")/usage.sh"

packages=(
  nvidia-cuda-nvcc==13.0.88     # nvcc, ptxas, nvlink, fatbinary
  nvidia-nvvm==13.0.88          # libdevice, cicc
  nvidia-cuda-crt==13.0.88      # headers of nvcc
  nvidia-cuda-runtime==13.0.96  # cuda.h, cuda_runtime.h
  nvidia-cuda-cccl==13.0.85     # headers of cuda_fp16.h
  nvidia-nvtx==13.0.85          # nvtx3/nvToolsExt.h
)
cublas=nvidia-cublas==13.1.0.3  # libcublasLt.so.13, cublasLt.h

cudnn=()
with_cudnn=(
  nvidia-cudnn-cu13==9.19.0.56  # libcudnn.so.9 and its parts, cudnn_graph.h
  nvidia-cuda-nvrtc==13.0.88    # what its engines are compiled with
)

nccl=
with_nccl=nvidia-nccl-cu13==2.28.9  # libnccl.so.2, nccl.h

fail() {
  echo "setup-cuda.sh: error: $*" >&2
  exit 1
}

target=
for argument in "$@"; do
  case $argument in
  --no-cublas) cublas= ;;
  --cudnn) cudnn=("${with_cudnn[@]}") ;;
  --nccl) nccl=$with_nccl ;;
  -*) fail "expects [--no-cublas] [--cudnn] [--nccl] [FOLDER], but got $argument" ;;
  '') fail "expects the name of a folder, but got an empty one" ;;
  *)
    [ -z "$target" ] || fail "expects one folder, but got $target and $argument"
    target=$argument
    ;;
  esac
done
if [ -z "$target" ]; then
  cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  [ -n "$cache" ] || fail "expects the name of a folder where HOME is not set"
  target=$cache/weft/cuda
fi
[ -z "$cublas" ] || packages+=("$cublas")
packages+=(${cudnn[@]+"${cudnn[@]}"})
[ -z "$nccl" ] || packages+=("$nccl")
python=${PYTHON:-python3}
parent=$(dirname -- "$target")
mkdir -p -- "$parent" || fail "cannot make the folder $parent"
parent=$(cd -- "$parent" && pwd)
target=${parent%/}/$(basename -- "$target")
case $target in
*/ | */. | */..) fail "expects the name of a folder, but got $target" ;;
esac
[ -w "$parent" ] || fail "cannot write in the folder $parent"
wanted=$(printf '%s\n' "${packages[@]}")
stamp=weft-packages.txt

# One at a time in a folder, which is the lock itself so that none is left; what
# an interrupted one has left is removed.
exec 9<"$parent"
flock 9
rm -rf "$target.partial" "$target.old"
trap 'rm -rf "$target.partial" "$target.old"' EXIT

if [ -e "$target" ] && [ ! -e "$target/$stamp" ]; then
  [ -d "$target" ] && [ -z "$(ls -A "$target")" ] ||
    fail "expects no other files in $target, but found some: name another folder"
  rmdir "$target"
fi

if [ ! -e "$target" ] || grep -qvxFf "$target/$stamp" <<<"$wanted"; then
  "$python" -m pip --version >/dev/null 2>&1 ||
    fail "needs pip: install python3-pip, or name a Python that has it in PYTHON"
  mkdir -p "$target.partial/wheels"
  for package in "${packages[@]}"; do
    echo "downloading $package" >&2
    "$python" -m pip download --disable-pip-version-check --quiet --no-deps \
      --only-binary=:all: --dest "$target.partial/wheels" "$package" >&2 ||
      fail "cannot download $package"
  done
  for wheel in "$target.partial/wheels"/*.whl; do
    "$python" -m zipfile -e "$wheel" "$target.partial/files"
  done
  home=$target.partial/files/nvidia/cu13
  # The wheels of cuDNN and NCCL have folders of their own.
  for own in "$target.partial/files/nvidia/cudnn" "$target.partial/files/nvidia/nccl"; do
    [ ! -d "$own" ] || cp -r "$own/include" "$own/lib" "$home"
  done
  ln -s lib "$home/lib64"
  find "$home" -path '*/bin/*' -type f -exec chmod +x {} +
  for file in bin/ptxas nvvm/libdevice/libdevice.10.bc include/cuda.h include/nvtx3/nvToolsExt.h ${cublas:+lib/libcublasLt.so.13} \
    ${cudnn:+lib/libcudnn.so.9 include/cudnn_graph.h} ${nccl:+lib/libnccl.so.2 include/nccl.h}; do
    [ -e "$home/$file" ] || fail "expects $file in the packages, but found none"
  done
  printf '%s\n' "$wanted" >"$home/$stamp"
  [ ! -e "$target" ] || mv "$target" "$target.old"
  mv "$home" "$target"
fi
echo "export WEFT_CUDA_HOME=$(printf '%q' "$target")"
