#!/bin/sh
# A Python whose pip makes small wheels instead of downloading them: each holds
# the files of the toolkit that its package has. FAKE_PIP_FAIL names one that
# cannot be downloaded; every download is a line of FAKE_PIP_LOG.
[ "$2" = pip ] || exec "$REAL_PYTHON" "$@"
[ "$3" = download ] || exit 0
while [ $# -gt 1 ]; do
  [ "$1" = --dest ] && dest=$2
  shift
done
echo "$1" >>"$FAKE_PIP_LOG"
name=${1%%==*}
[ "$name" != "$FAKE_PIP_FAIL" ] || exit 1
root=nvidia/cu13
case $name in
*-nvcc) files=bin/ptxas ;;
*-nvvm) files=nvvm/libdevice/libdevice.10.bc ;;
*-runtime) files=include/cuda.h ;;
*-nvtx) files=include/nvtx3/nvToolsExt.h ;;
*-cublas) files="lib/libcublasLt.so.13 include/cublasLt.h" ;;
*-cudnn-*) root=nvidia/cudnn files="lib/libcudnn.so.9 include/cudnn_graph.h" ;;
*-nccl-*) root=nvidia/nccl files="lib/libnccl.so.2 include/nccl.h" ;;
*) files=include/$name.h ;;
esac
exec "$REAL_PYTHON" - "$dest/$name.whl" $root $files <<'PY'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name in sys.argv[3:]:
        wheel.writestr(sys.argv[2] + "/" + name, "#!/bin/sh\necho " + name + "\n")
PY
