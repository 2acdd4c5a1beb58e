//===- DocsTest.cpp - The flag table in docs/reference/run-flags.md -------===//
//
// The table is generated; WEFT_UPDATE_DOCS=1 writes it anew.
//
//===----------------------------------------------------------------------===//

#include "TestPaths.h"

#include "weft/Runtime/Run/RunFlags.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace weft;

TEST(Docs, runFlagsHasTheTableOfAllRunFlags) {
  const std::string path =
      std::string(WEFT_SOURCE) + "/docs/reference/run-flags.md";
  const std::string begin = "<!-- flags: begin -->\n", end = "<!-- flags: end";
  std::ifstream in(path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  size_t from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  from += begin.size();
  std::string table = FlagTable(runFlagSpecs()).markdown(RunFlag);
  if (std::getenv("WEFT_UPDATE_DOCS"))
    std::ofstream(path) << text.substr(0, from) << table << text.substr(to);
  else
    EXPECT_EQ(text.substr(from, to - from), table);
}
