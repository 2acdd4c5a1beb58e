//===- SnapshotTest.cpp - Going back equals starting again ----------------===//

#include "CompileTo.h"

#include "weft/Memory/MemoryReport.h"
#include "weft/Weft/Weft.h"

#include <fstream>
#include <sstream>

namespace weft {
namespace {

/// The result of a compilation so far: the module, and its code at the end.
struct Result {
  std::string text;
  std::vector<char> object;
};

Result finish(Compiler &compiler) {
  Result result;
  EXPECT_EQ(errorOf(runWithinMemory(compiler,
                                    compiler.phases().find(Phase::VerifyPlan))),
            "");
  result.text = compiler.text();
  EXPECT_EQ(errorOf(compiler.run(compiler.phases().find(Phase::LowerToTarget))),
            "");
  Expected<std::vector<char>> object = compiler.objectCode();
  EXPECT_TRUE(object);
  if (object)
    result.object = std::move(*object);
  return result;
}

Result compileFresh(const FlagValues &flags) {
  Compiler compiler;
  EXPECT_EQ(compileTo(compiler, kModel, flags, "import"), "");
  return finish(compiler);
}

void expectEqual(const Result &one, const Result &other) {
  EXPECT_EQ(one.text, other.text);
  EXPECT_TRUE(one.object == other.object);
}

/// Flags of every run, and some more.
FlagValues withFlags(std::vector<std::string> args) {
  args.push_back("--precision=bf16");
  return parseFlags(args);
}

std::string writeCostTable() {
  std::string path = testing::TempDir() + "/snapshot-costs.toml";
  std::ofstream(path) << "gflops = 7.0\n";
  return path;
}

//===----------------------------------------------------------------------===//
// Going back
//===----------------------------------------------------------------------===//

TEST(Snapshot, GoingBackEqualsAFreshCompile) {
  const std::pair<Phase, std::string> changes[] = {
      {Phase::LowerToPlan, "--threads-max=5"},
      {Phase::LowerToPlan, "--cost-table=" + writeCostTable()},
      {Phase::LowerToPlan, "--numerics=fast"},
      {Phase::LowerToPlan, "--target=cpu:x86-64-v2"},
      {Phase::Partition, "--debug-nan"},
      {Phase::WorkingCopies, "--debug-nan"},
  };
  Result plain = compileFresh(withFlags({}));
  for (const auto &[phase, flag] : changes) {
    SCOPED_TRACE(getPhaseInfo(phase).name + (" " + flag));
    Compiler compiler;
    compiler.keepSnapshots();
    ASSERT_EQ(compileTo(compiler, kModel, withFlags({}), "verify-plan"), "");
    EXPECT_EQ(compiler.text(), plain.text);
    ASSERT_EQ(errorOf(compiler.goBack(phase, withFlags({flag}))), "");
    Result changed = finish(compiler);
    EXPECT_NE(changed.text, plain.text);
    expectEqual(changed, compileFresh(withFlags({flag})));
    // And back to where it came from.
    ASSERT_EQ(errorOf(compiler.goBack(phase, withFlags({}))), "");
    expectEqual(finish(compiler), plain);
  }
}

TEST(Snapshot, AFailedPhaseIsNoObstacle) {
  Compiler compiler;
  compiler.keepSnapshots();
  FlagValues small = withFlags({"--memory-limit=4K"});
  EXPECT_NE(compileTo(compiler, kModel, small, "verify-plan").find("needs "),
            std::string::npos);
  FlagValues large = withFlags({"--memory-limit=1G", "--threads-max=3"});
  // Behind the phase that the ways to fit have in common.
  EXPECT_NE(errorOf(compiler.goBack(Phase::LowerToPlan, large)), "");
  ASSERT_EQ(errorOf(compiler.goBack(Phase::DerivePrograms, large)), "");
  expectEqual(finish(compiler), compileFresh(large));
}

TEST(Snapshot, ALimitChoosesFlags) {
  Compiler compiler;
  const std::string model = WEFT_SOURCE "/examples/gpt2-mini";
  std::vector<std::string> args = {"--batch=4", "--seq=64"};
  ASSERT_EQ(compileTo(compiler, model, parseFlags(args), "verify-plan"), "");
  const int64_t bytes = computeMemoryReport(compiler.module()).getDeviceBytes();
  args.push_back("--memory-limit=" + std::to_string(bytes - 1));
  FlagValues limited = parseFlags(args);
  ASSERT_EQ(compileTo(compiler, model, limited, "verify-plan"), "");
  EXPECT_LT(computeMemoryReport(compiler.module()).getDeviceBytes(), bytes);
  EXPECT_TRUE(compiler.flags().isSet("recompute"));
  EXPECT_FALSE(limited.isSet("recompute"));
  // Nobody asked for snapshots.
  EXPECT_NE(errorOf(compiler.goBack(Phase::DerivePrograms, limited)), "");
}

TEST(Snapshot, ADumpIsASnapshotOfItsPhase) {
  std::string path = testing::TempDir() + "/snapshot-partition.mlir";
  Compiler first;
  ASSERT_EQ(compileTo(first, kModel, withFlags({}), "partition"), "");
  std::ofstream(path) << first.text();
  Compiler compiler;
  compiler.keepSnapshots();
  FlagValues from = parseFlags({"--from=partition"});
  ASSERT_EQ(compileTo(compiler, path, from, "verify-plan"), "");
  FlagValues flags = withFlags({"--threads-max=5"});
  ASSERT_EQ(errorOf(compiler.goBack(Phase::Partition, flags)), "");
  EXPECT_EQ(finish(compiler).text, compileFresh(flags).text);
}

TEST(Snapshot, DumpsHaveTheNewOptions) {
  std::string folder = testing::TempDir() + "/snapshot-dumps";
  std::string dumps = "--dump-dir=" + folder;
  Compiler compiler;
  compiler.keepSnapshots();
  ASSERT_EQ(compileTo(compiler, kModel, withFlags({dumps}), "fuse"), "");
  FlagValues flags = withFlags({dumps, "--threads-max=5"});
  ASSERT_EQ(errorOf(compiler.goBack(Phase::WorkingCopies, flags)), "");
  int index = compiler.phases().find(Phase::WorkingCopies);
  std::ifstream file(folder + "/" + compiler.phases().dumpFileName(index));
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("\"threads-max\" = \"5\""), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(Snapshot, NoneIsKeptUnlessAskedFor) {
  Compiler compiler;
  ASSERT_EQ(compileTo(compiler, kModel, withFlags({}), "verify-plan"), "");
  EXPECT_EQ(errorOf(compiler.goBack(Phase::Partition, withFlags({}))),
            "expects a phase with a snapshot to go back to, but got "
            "'partition'");
}

TEST(Snapshot, OnlyOfPhasesThatRan) {
  Compiler compiler;
  compiler.keepSnapshots();
  ASSERT_EQ(compileTo(compiler, kModel, withFlags({}), "lower-to-plan"), "");
  for (Phase phase : {Phase::Autodiff, Phase::VerifyPlan})
    EXPECT_NE(errorOf(compiler.goBack(phase, withFlags({}))), "");
  // Phases that ran with other flags have no snapshot any more.
  FlagValues flags = withFlags({"--debug-nan"});
  ASSERT_EQ(errorOf(compiler.goBack(Phase::WorkingCopies, flags)), "");
  EXPECT_NE(errorOf(compiler.goBack(Phase::LowerToPlan, flags)), "");
  EXPECT_EQ(errorOf(compiler.run(compiler.phases().find(Phase::LowerToPlan))),
            "");
  EXPECT_EQ(errorOf(compiler.goBack(Phase::LowerToPlan, flags)), "");
}

TEST(Snapshot, WhatIsDecidedStays) {
  Compiler compiler;
  compiler.keepSnapshots();
  ASSERT_EQ(compileTo(compiler, kModel, withFlags({}), "verify-plan"), "");
  std::string text = compiler.text();
  auto goBack = [&](std::vector<std::string> args) {
    return errorOf(
        compiler.goBack(Phase::Partition, withFlags(std::move(args))));
  };
  EXPECT_EQ(
      goBack({"--batch=4"}),
      "expects changes that phase import does not see, but got --batch=4");
  EXPECT_EQ(goBack({"--threads-max=3", "--optimizer=sgd"}),
            "expects changes that phase expand-optimizer does not see, but got "
            "--optimizer=sgd --threads-max=3");
  EXPECT_EQ(goBack({"--loss-scale=8"}),
            "expects changes that phase loss-scale does not see, but got "
            "--loss-scale=8");
  EXPECT_EQ(goBack({"--zero=3"}), "--zero=3 expects --mesh, but got none");
  EXPECT_EQ(goBack({"--target=tpu"}).find("expects the target "), 0u);
  EXPECT_EQ(compiler.text(), text);
}

//===----------------------------------------------------------------------===//
// Verification before output
//===----------------------------------------------------------------------===//

/// A phase that is none of the last of its level asks no op for its rules;
/// `weft compile --to` does before it writes.
TEST(Verify, AModuleInsideALevelIsVerifiedWhereItIsWritten) {
  Compiler compiler;
  ASSERT_EQ(compileTo(compiler, kModel, withFlags({}), "derive-programs"), "");
  EXPECT_EQ(errorOf(compiler.verify()), "");
  (*compiler.module().getOps<ParamOp>().begin()).erase();
  Status status = compiler.verify();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ExitCode::Input);
  EXPECT_NE(status.error().message().find("fc1"), std::string::npos)
      << status.error().message();
}

} // namespace
} // namespace weft
