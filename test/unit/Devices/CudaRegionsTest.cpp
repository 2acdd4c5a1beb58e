//===- CudaRegionsTest.cpp - Regions and edges of CUDA graphs -------------===//

#include "weft/Runtime/Devices/CudaRegions.h"

#include "weft/Abi/TransferRecords.h"

#include <gtest/gtest.h>

#include <deque>

using namespace weft;

namespace {
/// Programs written as text: "work", "upload 1", "readback 2", "record 3 e" and
/// "wait 0 e" with a stream and the letter of an event.
class RegionsTest : public testing::Test {
protected:
  void add(const std::vector<std::string> &lines) {
    std::vector<WeftCommand> &list = lists.emplace_back();
    for (const std::string &line : lines)
      list.push_back(parse(line));
    WeftProgram program = {};
    program.symbol = program.kind = "micro";
    program.commands = list.data();
    program.numCommands = int32_t(list.size());
    programs.push_back(program);
  }

  void analyze() {
    WeftExecutable executable = {};
    executable.numPrograms = int32_t(programs.size());
    executable.programs = programs.data();
    regions = CudaRegions(executable);
  }

  /// "0-3 graph 3,4" for commands, kind and side streams of each region.
  std::string text(size_t program) {
    std::string all;
    for (const CudaRegion &region : regions.of(programs[program])) {
      all += (all.empty() ? "" : "; ") + std::to_string(region.begin) + "-" +
             std::to_string(region.end) + (region.isRecorded ? " graph" : "");
      for (int64_t stream : region.sideStreams)
        all += " +" + std::to_string(stream);
    }
    return all;
  }
  std::string use(size_t program, int command) {
    const CudaEventUse use = regions.useOf(programs[program].commands[command]);
    return std::string(use.isEdge ? "edge" : "") +
           (use.isExternal ? "external" : "");
  }

private:
  WeftCommand parse(const std::string &line) {
    WeftCommand command = {};
    if (line == "work")
      return command;
    const size_t blank = line.find(' ');
    const std::string name = line.substr(0, blank);
    for (int32_t kind = WEFT_UPLOAD; kind >= WEFT_WAIT; --kind)
      if (name == transferName(kind))
        command.kind = kind;
    const bool hasEvent = line.size() > blank + 2;
    records.push_back(
        {line[blank + 1] - '0', hasEvent ? line[blank + 3] - 'a' : 0});
    command.record = &records.back();
    command.recordBytes = sizeof records.back();
    return command;
  }

  std::deque<WeftTransferRecord> records;
  std::deque<std::vector<WeftCommand>> lists;
  std::vector<WeftProgram> programs;
  CudaRegions regions;
};
} // namespace

// Copies stay outside, and with them the events that stream 0 can do itself.
TEST_F(RegionsTest, OneGraphBetweenInputsAndOutputs) {
  add({"wait 1 p", "upload 1", "record 1 u", "wait 0 u", "work", "record 0 p",
       "work", "wait 0 a", "work", "record 0 g", "wait 2 g", "readback 2",
       "record 2 a"});
  analyze();
  EXPECT_EQ(text(0), "0-3 +1; 3-4; 4-9 graph; 9-10; 10-13 +2");
  EXPECT_EQ(use(0, 5), "external"); // the next upload waits for it
  EXPECT_EQ(use(0, 7), "external"); // the last readback has recorded it
  EXPECT_EQ(use(0, 9), "external");
}

TEST_F(RegionsTest, EventsBetweenStreamsOfAGraphAreEdges) {
  add({"work", "record 0 r", "wait 3 r", "record 3 g", "work", "wait 0 g",
       "record 0 r", "wait 4 r", "record 4 h", "wait 0 h", "work"});
  analyze();
  EXPECT_EQ(text(0), "0-11 graph +3 +4");
  for (int command : {1, 2, 3, 5, 6, 7, 8, 9})
    EXPECT_EQ(use(0, command), "edge") << command;
}

// An edge of one program, and a node for the other one.
TEST_F(RegionsTest, EventsOfAnotherProgramAreExternal) {
  add({"work", "record 3 g", "wait 0 g", "work"});
  add({"work", "wait 0 g", "work", "record 3 g", "wait 0 g", "work"});
  analyze();
  EXPECT_EQ(text(1), "0-6 graph +3");
  EXPECT_EQ(use(0, 1), "edgeexternal");
  EXPECT_EQ(use(0, 2), "edge");
  EXPECT_EQ(use(1, 1), "external");
  EXPECT_EQ(use(1, 3), "edgeexternal");
  EXPECT_EQ(use(1, 4), "edge");
}

// Only the last record of a graph can be seen from outside.
TEST_F(RegionsTest, EarlierRecordsAreNotExternal) {
  add({"work", "record 0 p", "work", "record 0 p", "work", "wait 1 p",
       "upload 1"});
  analyze();
  EXPECT_EQ(text(0), "0-5 graph; 5-7 +1");
  EXPECT_EQ(use(0, 1), "");
  EXPECT_EQ(use(0, 3), "external");
}

// A copy in the middle splits a program: what follows may wait for it.
TEST_F(RegionsTest, CopiesInTheMiddleSplitGraphs) {
  add({"work", "record 0 g", "wait 2 g", "readback 2", "record 2 a", "wait 0 a",
       "work", "wait 0 b"});
  analyze();
  EXPECT_EQ(text(0), "0-1 graph; 1-2; 2-5 +2; 5-6; 6-8 graph");
  EXPECT_EQ(use(0, 5), "external");
  EXPECT_EQ(use(0, 7), "external");
}

TEST_F(RegionsTest, EventsAloneAreNoGraph) {
  add({"record 3 g", "wait 4 g"});
  add({});
  analyze();
  EXPECT_EQ(text(0), "0-2 +3 +4");
  EXPECT_EQ(text(1), "");
}
