//===- CpuBindingTest.cpp - CPUs next to a device -------------------------===//

#include "weft/Runtime/Devices/CpuBinding.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <thread>

using namespace weft;
namespace fs = std::filesystem;

namespace {

TEST(CpuLists, AreParsed) {
  using Cpus = std::vector<int>;
  EXPECT_EQ(parseCpuList("0-3,8,10-11\n"), (Cpus{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parseCpuList("5"), Cpus{5});
  EXPECT_EQ(parseCpuList(""), Cpus());
  EXPECT_EQ(parseCpuList("\n"), Cpus());
  for (const char *wrong : {"a", "1-", "-1", "3-1", "1,1", "4,2", "1,,2",
                            "0-99999", "1024", "0x3", "1-2-3"})
    EXPECT_EQ(parseCpuList(wrong), std::nullopt) << wrong;
}

TEST(CpuLists, AreSpelled) {
  EXPECT_EQ(cpuListText({}), "");
  EXPECT_EQ(cpuListText({7}), "7");
  EXPECT_EQ(cpuListText({0, 1, 2, 8, 10, 11}), "0-2,8,10-11");
}

/// A machine with eight CPUs, four of each node. Node 1 has the device.
struct CpuBindingTest : testing::Test {
  CpuBindingTest() {
    std::string name = "/tmp/weft-cpus-XXXXXX";
    root = ::mkdtemp(name.data());
    write("devices/system/cpu/online", "0-7\n");
    write(device + "/numa_node", "1\n");
    write(device + "/local_cpulist", "4-7\n");
  }
  ~CpuBindingTest() override { fs::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  std::string choose(const std::vector<int> &allowed) {
    return chooseCpus(root, "0000:3B:00.0", allowed).describe();
  }
  std::string choose() { return choose({0, 1, 2, 3, 4, 5, 6, 7}); }

  const std::string device = "bus/pci/devices/0000:3b:00.0";
  fs::path root;
};

TEST_F(CpuBindingTest, TakesTheCpusOfTheDevice) {
  EXPECT_EQ(choose(), "4-7 of NUMA node 1");
}

TEST_F(CpuBindingTest, TakesThoseOfTheNodeWhereTheDeviceNamesNone) {
  write("devices/system/node/node1/cpulist", "4-5,7\n");
  fs::remove(root / device / "local_cpulist");
  EXPECT_EQ(choose(), "4-5,7 of NUMA node 1");
  write(device + "/local_cpulist", "\n");
  EXPECT_EQ(choose(), "4-5,7 of NUMA node 1");
  fs::remove_all(root / "devices/system/node");
  EXPECT_EQ(choose(), "not bound: the kernel does not list the CPUs of NUMA "
                      "node 1");
}

TEST_F(CpuBindingTest, KeepsAnotherBinding) {
  EXPECT_EQ(choose({4, 5}),
            "not bound: the process was started with 2 of 8 CPUs");
}

TEST_F(CpuBindingTest, KeepsAllCpusWithoutANode) {
  write(device + "/numa_node", "-1\n");
  EXPECT_EQ(choose(), "not bound: 0000:3b:00.0 has NUMA node -1");
  fs::remove(root / device / "numa_node");
  EXPECT_EQ(choose(), "not bound: the kernel does not name the NUMA node of "
                      "0000:3b:00.0");
}

TEST_F(CpuBindingTest, KeepsAllCpusWhereSomeMayNotBeUsed) {
  write(device + "/local_cpulist", "6-9\n");
  EXPECT_EQ(choose(), "not bound: the process may not use the CPUs 6-9 of "
                      "NUMA node 1");
}

TEST_F(CpuBindingTest, KeepsAllCpusOfAnUnknownMachine) {
  fs::remove(root / "devices/system/cpu/online");
  EXPECT_EQ(choose(), "not bound: the kernel does not list the CPUs of the "
                      "machine");
}

/// In a process of its own, which stays bound.
TEST(CpuBindingDeathTest, BindsThreadsThatExist) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::vector<int> all = allowedCpus();
  ASSERT_FALSE(all.empty());
  auto bindAndExit = [&] {
    std::atomic<bool> isBound{false};
    int found = -1;
    std::thread other([&] {
      while (!isBound)
        std::this_thread::yield();
      const std::vector<int> cpus = allowedCpus();
      found = cpus.size() == 1 ? cpus.front() : -1;
    });
    CpuBinding binding = {{all.back()}, 0, ""};
    bindProcess(binding);
    isBound = true;
    other.join();
    std::exit(!binding.cpus.empty() && found == all.back() &&
                      allowedCpus() == std::vector<int>{all.back()}
                  ? 0
                  : 1);
  };
  EXPECT_EXIT(bindAndExit(), testing::ExitedWithCode(0), "");
}

TEST(CpuBindingDeathTest, SaysWhatTheKernelRefuses) {
  CpuBinding none = {{CPU_SETSIZE - 1}, 0, ""};
  bindProcess(none);
  EXPECT_EQ(none.describe(),
            "not bound: sched_setaffinity failed: invalid argument");
}

} // namespace
