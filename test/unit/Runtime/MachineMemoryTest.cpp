//===- MachineMemoryTest.cpp - Memory that is held and that may be --------===//

#include "weft/Runtime/Execute/MachineMemory.h"
#include "ToyTool.h"
#include "weft/Runtime/Run/Run.h"

#include <sys/mman.h>

using namespace weft;

namespace {

constexpr int64_t kMiB = 1 << 20;

/// A folder that stands for the root of a machine.
class MemoryRoomTest : public ToyTest {
protected:
  void file(const std::string &name, const std::string &text) {
    std::filesystem::create_directories(
        std::filesystem::path(path(name)).parent_path());
    write(name, text);
  }
  void group(const std::string &folder, const std::string &limit, int64_t used,
             int64_t cached) {
    file(folder + "/memory.max", limit + "\n");
    file(folder + "/memory.current", std::to_string(used) + "\n");
    file(folder + "/memory.stat", "anon 1\ninactive_file " +
                                      std::to_string(cached) +
                                      "\nactive_file 0\n");
  }
};

} // namespace

TEST_F(MemoryRoomTest, IsTheMachineWithoutGroups) {
  MemoryBudget budget = processBudget(folder);
  EXPECT_EQ(budget.bytes,
            int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
  EXPECT_EQ(budget.limit, "the machine has");
  EXPECT_EQ(availableMemory(folder), INT64_MAX);
}

TEST_F(MemoryRoomTest, IsTheTightestGroupOfVersion2) {
  file("proc/self/cgroup", "0::/outer/inner\n");
  group("sys/fs/cgroup/outer/inner", "max", 3 * kMiB, 0);
  group("sys/fs/cgroup/outer", std::to_string(64 * kMiB), 20 * kMiB, 8 * kMiB);
  MemoryBudget budget = processBudget(folder);
  EXPECT_EQ(budget.bytes, 52 * kMiB); // cached files can be freed
  EXPECT_EQ(budget.limit, "the control group leaves");
  Status status = checkMemory(53 * kMiB, budget);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "the program needs 53.00 MiB, but the control group leaves 52.00 "
            "MiB");
  EXPECT_EQ(status.error().code(), ExitCode::DoesNotFit);
  EXPECT_TRUE(checkMemory(52 * kMiB, budget));
  EXPECT_TRUE(checkMemory(13 * kMiB, budget, /*ranks=*/4));
  Status ofRanks = checkMemory(14 * kMiB, budget, /*ranks=*/4);
  ASSERT_FALSE(ofRanks);
  EXPECT_EQ(ofRanks.error().message(),
            "the program needs 14.00 MiB for each of 4 ranks, but the control "
            "group leaves 52.00 MiB");
}

TEST_F(MemoryRoomTest, OfAContainerIsAtItsMount) {
  file("proc/self/cgroup", "5:cpu,memory:/docker/0123\n1:name=systemd:/\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "33554432\n");
  file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1048576\n");
  EXPECT_EQ(processBudget(folder).bytes, 31 * kMiB);
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(processBudget(folder).limit, "the machine has");
}

TEST_F(MemoryRoomTest, IsNeverNegative) {
  file("proc/self/cgroup", "0::/\n");
  group("sys/fs/cgroup", "1048576", 2 * kMiB, 0);
  EXPECT_EQ(processBudget(folder).bytes, 0);
}

TEST_F(MemoryRoomTest, CountsFreeSwapAsAvailable) {
  file("proc/meminfo", "MemTotal: 9 kB\nMemAvailable: 5 kB\nSwapFree: 2 kB\n");
  EXPECT_EQ(availableMemory(folder), 7 * 1024);
}

/// A sanitizer maps more than any limit leaves.
constexpr bool isSanitized() {
#if defined(__has_feature)
  return __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
  return false;
#endif
}

TEST_F(MemoryRoomTest, RespectsTheLimitsOfTheProcess) {
  if (isSanitized())
    GTEST_SKIP() << "a sanitizer maps more than the limit";
  pid_t child = fork();
  if (child == 0) {
    rlimit limit = {rlim_t(1) << 30, rlim_t(1) << 30};
    setrlimit(RLIMIT_DATA, &limit);
    MemoryBudget budget = processBudget();
    _exit(budget.bytes < (int64_t(1) << 30) && budget.bytes > 0 &&
                  budget.limit == "the limit on data (ulimit -d) leaves"
              ? 0
              : 1);
  }
  EXPECT_EQ(wait(child), 0);
}

// A child that execs keeps the ru_maxrss of its parent.
TEST_F(MemoryRoomTest, PeakIsThatOfTheProgramAlone) {
  constexpr int64_t ballast = 300 * kMiB;
  void *memory = mmap(nullptr, ballast, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  memset(memory, 1, ballast);
  EXPECT_GE(peakMemory(), ballast);
  ToolResult run = train({"--steps=1", "--metrics=m.jsonl"});
  munmap(memory, ballast);
  EXPECT_EQ(run.status, 0) << run.err;
  int64_t peak = lines("m.jsonl").back().find("mem_bytes")->asInt();
  EXPECT_GT(peak, kMiB / 2);
  EXPECT_LT(peak, 100 * kMiB);
}
