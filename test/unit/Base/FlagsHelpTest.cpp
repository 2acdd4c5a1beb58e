//===- FlagsHelpTest.cpp - Help texts with headings -----------------------===//

#include "weft/Base/Flags.h"

#include "gtest/gtest.h"

using namespace weft;

TEST(Flags, HelpHasTopics) {
  std::vector<FlagSpec> specs;
  const FlagSpec lr[] = {
      {"lr", FlagKind::Double, RunFlag, "1", "X", "rate"},
      {"beta", FlagKind::Double, RunFlag, "", "X", "decay of a moment"}};
  const FlagSpec data[] = {
      {"data", FlagKind::String, RunFlag, "", "FILE",
       "rows that are longer than one line of sixty columns can be"}};
  appendFlags(specs, lr, FlagTopic::Optimizer);
  appendFlags(specs, data, FlagTopic::Data);
  markCommon(specs, {"lr", "data"});
  FlagTable all(specs);
  EXPECT_EQ(all.help(RunFlag, {60, /*isShort=*/true}),
            "Data:\n"
            "  --data FILE\n"
            "        rows that are longer than one line of sixty columns\n"
            "        can be\n"
            "\n"
            "Optimizer:\n"
            "  --lr X\n"
            "        rate [1]\n");
  EXPECT_NE(all.help(RunFlag).find("--beta X"), std::string::npos);
  EXPECT_EQ(all.markdown(),
            "### run flags\n"
            "\n#### Data\n\n| flag | default | meaning |\n|---|---|---|\n"
            "| `--data FILE` |  | rows that are longer than one line of sixty "
            "columns can be |\n"
            "\n#### Optimizer\n\n| flag | default | meaning |\n|---|---|---|\n"
            "| `--lr X` | `1` | rate |\n"
            "| `--beta X` |  | decay of a moment |\n");
}
