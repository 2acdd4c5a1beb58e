//===- MicroProgramsTest.cpp - Programs of micro-steps --------------------===//

#include "weft/Runtime/Run/Evaluate.h"

#include "gtest/gtest.h"

#include <string>

using namespace weft;

namespace {

/// An executable with these programs of micro-steps.
struct Program {
  std::vector<WeftProgram> programs;
  WeftExecutable executable = {};

  explicit Program(std::vector<const char *> names) {
    programs.push_back({"init", "init", nullptr, nullptr, nullptr, 0, 0, 0});
    for (const char *name : names)
      programs.push_back({name, "micro", nullptr, nullptr, nullptr, 0, 0, 0});
    executable.programs = programs.data();
    executable.numPrograms = int32_t(programs.size());
  }

  /// The programs of a step of `count` micro-steps, then those it lists.
  std::string runs(int64_t count) const {
    const MicroPrograms micros(executable);
    std::string text;
    for (int64_t number = 0; number < count; ++number)
      text += std::string(micros.get(number, count).symbol) + " ";
    text += "|";
    for (const WeftProgram *program : micros.list(count))
      text += std::string(" ") + program->symbol;
    return text;
  }
};

TEST(MicroPrograms, areOneForAll) {
  const Program program({"micro"});
  EXPECT_EQ(program.runs(1), "micro | micro");
  EXPECT_EQ(program.runs(3), "micro micro micro | micro");
}

TEST(MicroPrograms, gatherInTheFirst) {
  const Program program({"micro", "micro_later"});
  EXPECT_EQ(program.runs(1), "micro | micro");
  EXPECT_EQ(program.runs(3),
            "micro micro_later micro_later | micro micro_later");
}

TEST(MicroPrograms, reduceInTheLast) {
  const Program program({"micro", "micro_keep"});
  EXPECT_EQ(program.runs(1), "micro | micro");
  EXPECT_EQ(program.runs(2), "micro_keep micro | micro_keep micro");
  EXPECT_EQ(program.runs(3), "micro_keep micro_keep micro | micro_keep micro");
}

TEST(MicroPrograms, gatherInTheFirstAndReduceInTheLast) {
  const Program program(
      {"micro", "micro_keep", "micro_later_keep", "micro_later"});
  EXPECT_EQ(program.runs(1), "micro | micro");
  EXPECT_EQ(program.runs(2), "micro_keep micro_later | micro_keep micro_later");
  EXPECT_EQ(program.runs(4), "micro_keep micro_later_keep micro_later_keep "
                             "micro_later | micro_keep micro_later_keep "
                             "micro_later");
}

} // namespace
