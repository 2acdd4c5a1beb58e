#!/bin/sh
# Links a program as `c++` would, with nothing but files of a packed weft:
# scripts/package.sh puts this script into libexec/, and bin/weft names it in
# WEFT_CXX. It knows the arguments that weft passes to a linker:
#   -o FILE, objects, archives, -lNAME, -l:FILE, -Wl,ARGUMENT,...
# The program finds oneDNN and libgomp by a run path of this folder.
set -eu
here=$(cd "${0%/*}/.." && pwd -P)
sysroot=$here/lib/sysroot

# Each argument moves from the front of the list to its end, translated.
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  count=$((count - 1))
  case $argument in
  -lpthread | -ldl) ;; # parts of libc
  -lm) set -- "$@" -l:libm.so.6 ;;
  -Wl,*)
    rest=${argument#-Wl,},
    while [ -n "$rest" ]; do
      set -- "$@" "${rest%%,*}"
      rest=${rest#*,}
    done
    ;;
  *) set -- "$@" "$argument" ;;
  esac
done

# DT_RPATH, not DT_RUNPATH: the loader uses it for oneDNN's own libraries too.
exec "$here/libexec/ld.lld" --disable-new-dtags --hash-style=gnu --eh-frame-hdr -m elf_x86_64 -pie \
  -dynamic-linker /lib64/ld-linux-x86-64.so.2 -rpath "$here/lib/programs" \
  "$sysroot/Scrt1.o" "$sysroot/crti.o" "$sysroot/crtbeginS.o" \
  "-L$here/lib/programs" "-L$sysroot" "$@" \
  -l:libstdc++.so.6 -l:libm.so.6 -l:libgcc_s.so.1 -l:libgcc.a \
  -l:libc.so.6 -l:libc_nonshared.a --as-needed -l:ld-linux-x86-64.so.2 --no-as-needed \
  "$sysroot/crtendS.o" "$sysroot/crtn.o"
