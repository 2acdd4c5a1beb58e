//===- Check.h - Ends a fuzz run when a promise is broken -------*- C++ -*-===//

#ifndef WEFT_TEST_FUZZ_CHECK_H
#define WEFT_TEST_FUZZ_CHECK_H

#include <cstdio>
#include <cstdlib>

/// Like assert, but in every build.
#define FUZZ_CHECK(condition)                                                  \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__,          \
                   #condition);                                                \
      std::abort();                                                            \
    }                                                                          \
  } while (false)

#endif // WEFT_TEST_FUZZ_CHECK_H
