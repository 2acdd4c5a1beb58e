#!/usr/bin/env bash
# Sourced by the other scripts of this folder, with their arguments: --help
# prints the comment at their top and ends them.
for argument in "$@"; do
  case $argument in
  -h | --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
  esac
done
unset argument
