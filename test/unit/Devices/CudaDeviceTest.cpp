//===- CudaDeviceTest.cpp - The runtime of CUDA devices -------------------===//

#include "CudaDeviceFixture.h"
#include "weft/Runtime/Devices/Ports.h"

#include <algorithm>
#include <cstring>

using namespace weft;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, RunsTheSameWithAndWithoutGraphs) {
  for (bool graphs : {true, false}) {
    fake.calls.clear();
    options.graphs = graphs;
    ASSERT_TRUE(open());
    EXPECT_EQ(context->device().describe(), "Fake GPU (sm_90)");
    EXPECT_EQ(fake.count("cuModuleLoadData"), 2);
    for (float flag : {0, 1, 1, 0, 1, 0, 0})
      ASSERT_TRUE(run(flag + 0.25f, flag));
    // A graph for each value of the flag, recorded in its second run; one
    // launch for a run.
    EXPECT_EQ(fake.count("cuGraphInstantiateWithFlags"), graphs ? 2 : 0);
    EXPECT_EQ(fake.count("cuGraphLaunch"), graphs ? 5 : 0);
    // Inputs have been copied, in both graphs.
    EXPECT_EQ(fake.count("cuEventRecordWithFlags"), graphs ? 2 : 0);
    EXPECT_EQ(fake.count("cuFuncSetAttribute"), 1);
    context.reset();
    EXPECT_EQ(fake.leaks(), "");
  }
}

/// Runs in flight, and the results of each.
TEST_F(CudaDeviceTest, RunsAheadOfTheHost) {
  for (int depth : {0, 1, 3}) {
    options.runsInAdvance = depth;
    ASSERT_TRUE(open());
    Device &device = context->device();
    EXPECT_EQ(device.runsInAdvance(), depth);
    for (int first = 0; first < 3; ++first) {
      const int runs = std::max(1, depth);
      for (int i = 0; i < runs; ++i) {
        writeNumber(*context, inputs[0], first * 10 + i, 0);
        writeNumber(*context, inputs[1], 0);
        ASSERT_TRUE(device.start(*context, program));
        writeNumber(*context, inputs[0], -1, 0);
        EXPECT_EQ(device.runsInFlight(), i + 1);
      }
      for (int i = 0; i < runs; ++i) {
        ASSERT_TRUE(device.finish(*context));
        EXPECT_EQ(readNumber(*context, output, 0), 2 * (first * 10 + i));
        EXPECT_EQ(device.runsInFlight(), runs - 1 - i);
      }
    }
    // A run whose results are needed at once finishes the runs in flight.
    ASSERT_TRUE(device.start(*context, program));
    EXPECT_TRUE(run(5, 0));
    EXPECT_EQ(device.runsInFlight(), 0);
    context.reset();
    EXPECT_EQ(fake.leaks(), "");
  }
}

// Any call may fail while runs are in flight.
TEST_F(CudaDeviceTest, NothingIsUnderWayAfterAnError) {
  auto startBoth = [&] {
    writeNumber(*context, inputs[1], 0);
    return context->device().start(*context, program) &&
           context->device().start(*context, program);
  };
  ASSERT_TRUE(open());
  const size_t begin = fake.calls.size();
  ASSERT_TRUE(startBoth() && context->device().finish(*context));
  const std::vector<std::string> calls(fake.calls.begin() + long(begin),
                                       fake.calls.end());
  for (size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + " " + calls[i]);
    if (calls[i].find("Destroy") != std::string::npos)
      continue; // nobody's any more
    context.reset();
    fake.calls.clear();
    ASSERT_TRUE(open());
    fake.failAt = int(begin + i);
    EXPECT_FALSE(startBoth() && context->device().finish(*context));
    EXPECT_EQ(context->error(), 9);
    EXPECT_NE(context->message().find(calls[i]), std::string::npos);
    EXPECT_EQ(context->device().runsInFlight(), 0);
    context->clearError();
    fake.failAt = -1;
    EXPECT_TRUE(run(2, 0));
  }
}

TEST_F(CudaDeviceTest, BringsBytesInAndOut) {
  ASSERT_TRUE(open());
  Device &device = context->device();
  EXPECT_EQ(device.hostView(), nullptr);
  EXPECT_GE(device.peakBytes(), executable.arenaBytes);
  for (int64_t bytes : {int64_t(0), int64_t(1), CudaTransfers::kPieceBytes,
                        CudaTransfers::kPieceBytes * 2 + 5}) {
    std::vector<char> in(size_t(bytes) + 1, 'a'), out(size_t(bytes) + 1, 'b');
    for (size_t i = 0; i < size_t(bytes); ++i)
      in[i] = char(i * 7 % 251);
    ASSERT_TRUE(device.copyIn(kW + 3, in.data(), bytes));
    ASSERT_TRUE(device.copyOut(out.data(), kW + 3, bytes));
    EXPECT_EQ(out.back(), 'b');
    out.back() = 'a';
    EXPECT_EQ(in, out) << bytes;
  }
  ASSERT_TRUE(device.zero(kW + 4, 2));
  char four[4];
  ASSERT_TRUE(device.copyOut(four, kW + 3, 4));
  EXPECT_EQ(std::string(four, 4), std::string("\0\0\0\x15", 4));
}

// Files go through pieces of memory of the host.
TEST_F(CudaDeviceTest, ReadsAndWritesTheArenaInPieces) {
  ASSERT_TRUE(open());
  int64_t sum = 0, pieces = 0;
  ASSERT_TRUE(writeArena(*context, kW, kBytes,
                         [](char *out, int64_t at, int64_t bytes) {
                           for (int64_t i = 0; i < bytes; ++i)
                             out[i] = char((at + i) % 127);
                           return Status::success();
                         }));
  ASSERT_TRUE(
      readArena(*context, kW, kBytes, [&](const char *data, int64_t bytes) {
        for (int64_t i = 0; i < bytes; ++i)
          sum += data[i] != char((sum + i) % 127) ? kBytes : 0;
        pieces += 1;
        return Status::success();
      }));
  EXPECT_EQ(pieces, 2);
  auto view = ArenaView::of(*context, kW + 1, 2);
  ASSERT_TRUE(view);
  EXPECT_EQ(std::string(view->data(), 2), "\x01\x02");
}

TEST_F(CudaDeviceTest, TheArenaIsOfWholeUnits) {
  for (size_t unit : {size_t(256), size_t(2) << 20, size_t(32) << 20}) {
    fake.granularity = unit;
    ASSERT_TRUE(open());
    EXPECT_EQ(fake.memoryBytes % unit, 0u);
    EXPECT_GE(fake.memoryBytes, size_t(kW + kBytes));
    EXPECT_LT(fake.memoryBytes, size_t(kW + kBytes) + unit);
  }
}

TEST_F(CudaDeviceTest, MemoryStartsAsZeroOrPoisoned) {
  for (bool poisoned : {false, true}) {
    options.poisoned = poisoned;
    ASSERT_TRUE(open());
    unsigned char byte = 7;
    ASSERT_TRUE(context->device().copyOut(&byte, kW, 1));
    EXPECT_EQ(byte, poisoned ? 0xFF : 0);
  }
}

TEST_F(CudaDeviceTest, WatchesCommandByCommand) {
  ASSERT_TRUE(open());
  std::vector<std::string> traced;
  int64_t start = 0;
  context->traceHook = [&](const TraceEvent &event) {
    EXPECT_EQ(event.durationNs, 500000);
    traced.push_back(event.command->name);
    // Those before it in its stream.
    if (traced.back() == "double")
      start = event.startNs;
    if (traced.back() == "add_if")
      EXPECT_EQ(event.startNs, start + 500000);
  };
  for (int i = 0; i < 3; ++i) {
    traced.clear();
    ASSERT_TRUE(run(1, 0));
    EXPECT_EQ(traced, (std::vector<std::string>{
                          "wait", "upload", "record", "wait", "copy", "copy",
                          "record", "double", "add_if", "wait", "copy",
                          "record", "wait", "readback", "record"}));
  }
  EXPECT_EQ(fake.count("cuGraphLaunch"), 0);
  context->traceHook = nullptr;
  // Of the transfers, only the uploads of inputs.
  std::vector<std::string> seen;
  context->checkHook = [&](const WeftProgram &, const WeftCommand &command,
                           void *const *buffers) {
    seen.push_back(command.name);
    EXPECT_EQ(buffers[0], context->at(command.offsets[0]));
    if (seen.size() == 1)
      return true;
    context->fail(6, "looked");
    return false;
  };
  Status status = run(1, 0);
  EXPECT_EQ(seen, (std::vector<std::string>{"upload", "copy"}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exitStatus(), 6);
  EXPECT_EQ(status.error().message(), "program micro: looked");
}

TEST_F(CudaDeviceTest, ARoutineThatFailsEndsTheProgram) {
  // Its flag is an input of another program.
  int64_t wrong[3] = {kY, kZ, kY};
  commands[1].offsets = wrong;
  build();
  WeftPort other = {"flag", WEFT_F32, 0, nullptr, kY, 4};
  TransferCommands others({{kY, kX, 4}}, {}, {{kZ, kStagedZ, 16}});
  WeftProgram programs[2] = {
      program,
      {"other", "other", others.data(), &other, &output, others.size(), 1, 1}};
  executable.programs = programs;
  executable.numPrograms = 2;
  ASSERT_TRUE(open());
  Status status = run(1, 0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exitStatus(), 70);
  EXPECT_EQ(status.error().message(),
            "program micro: expects a flag that the host writes");
  EXPECT_FALSE(context->failed());
}
