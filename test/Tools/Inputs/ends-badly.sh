#!/bin/sh
# A test binary whose one test passes, and that ends with 23 behind it.
for word; do
  case $word in
  --gtest_output=json:*)
    echo '{"tests": 1, "failures": 0, "testsuites": [{"name": "End", "testsuite": [{"name": "a", "result": "COMPLETED"}]}]}' \
      > "${word#--gtest_output=json:}"
    ;;
  esac
done
exit 23
