//===- RendezvousTest.cpp - Environment variables of launchers ------------===//

#include "weft/Runtime/Collectives/Rendezvous.h"
#include "weft/Runtime/Collectives/Processes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

using namespace weft;

namespace {
/// An environment with these variables of launchers and no others.
class RendezvousTest : public ::testing::Test {
protected:
  void SetUp() override {
    for (const char *name : kNames)
      ::unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static void set(const std::map<std::string, std::string> &variables) {
    for (const auto &[name, value] : variables)
      ::setenv(name.c_str(), value.c_str(), 1);
  }
  static std::string errorText() {
    auto found = findRendezvous();
    return found ? "" : found.error().message();
  }

  static constexpr const char *kNames[] = {"RANK",
                                           "WORLD_SIZE",
                                           "LOCAL_RANK",
                                           "LOCAL_WORLD_SIZE",
                                           "MASTER_ADDR",
                                           "MASTER_PORT",
                                           "TORCHELASTIC_RUN_ID",
                                           "TORCHELASTIC_RESTART_COUNT",
                                           "TORCHELASTIC_USE_AGENT_STORE",
                                           "OMPI_COMM_WORLD_SIZE",
                                           "OMPI_COMM_WORLD_RANK",
                                           "OMPI_COMM_WORLD_LOCAL_SIZE",
                                           "OMPI_MCA_ess_base_jobid",
                                           "PMIX_RANK",
                                           "PMIX_NAMESPACE",
                                           "PMI_RANK",
                                           "PMI_SIZE",
                                           "PMI_JOBID",
                                           "SLURM_PROCID",
                                           "SLURM_STEP_ID",
                                           "SLURM_JOB_ID",
                                           "SLURM_RESTART_COUNT",
                                           "SLURM_STEP_NUM_TASKS",
                                           "SLURM_TASKS_PER_NODE",
                                           "SLURM_STEP_NODELIST",
                                           "SLURM_JOB_NODELIST",
                                           "WEFT_SECRET",
                                           "WEFT_INTERFACE",
                                           "WEFT_LISTENER"};
};

TEST_F(RendezvousTest, NoLauncher) {
  EXPECT_FALSE(findLauncher().has_value());
  EXPECT_EQ(errorText(),
            "expects a launcher, but RANK and WORLD_SIZE are not set");
}

TEST_F(RendezvousTest, Torchrun) {
  set({{"RANK", "3"},
       {"WORLD_SIZE", "8"},
       {"LOCAL_WORLD_SIZE", "4"},
       {"MASTER_ADDR", "node1"},
       {"MASTER_PORT", "29500"},
       {"TORCHELASTIC_RUN_ID", "none"}});
  EXPECT_EQ(findLauncher()->name, "torchrun");
  EXPECT_EQ(findRankNumber(), 3);
  EXPECT_EQ(countLocal(), 4);
  auto found = findRendezvous();
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->rank, 3);
  EXPECT_EQ(found->ranks, 8);
  EXPECT_FALSE(found->isOneMachine);
  EXPECT_EQ(found->host, "node1");
  EXPECT_EQ(found->ports, std::vector<int>{29500});
  // The agent has the port itself.
  set({{"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(findRendezvous()->ports,
            (std::vector<int>{29501, 29502, 29503, 29504, 29505, 29506, 29507,
                              29508}));
  set({{"MASTER_PORT", "65533"}});
  EXPECT_EQ(findRendezvous()->ports, (std::vector<int>{65534, 65535}));
}

TEST_F(RendezvousTest, KeysTellRunsApart) {
  set({{"RANK", "0"},
       {"WORLD_SIZE", "2"},
       {"MASTER_ADDR", "node1"},
       {"MASTER_PORT", "29500"}});
  std::vector<std::string> keys = {findRendezvous()->key};
  for (const char *name :
       {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "WEFT_SECRET"}) {
    set({{name, "1"}});
    keys.push_back(findRendezvous()->key);
    EXPECT_NE(keys.back(), keys[keys.size() - 2]) << name;
  }
  set({{"RANK", "1"}, {"LOCAL_RANK", "1"}});
  EXPECT_EQ(findRendezvous()->key, keys.back());
}

TEST_F(RendezvousTest, Srun) {
  set({{"SLURM_PROCID", "5"},
       {"SLURM_STEP_NUM_TASKS", "6"},
       {"SLURM_TASKS_PER_NODE", "2(x3)"},
       {"SLURM_JOB_ID", "77"},
       {"SLURM_STEP_ID", "0"},
       {"SLURM_STEP_NODELIST", "node[07-09]"},
       {"SLURM_JOB_NODELIST", "node[01-09]"}});
  EXPECT_EQ(findLauncher()->name, "srun");
  auto found = findRendezvous();
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->rank, 5);
  EXPECT_EQ(found->ranks, 6);
  EXPECT_EQ(found->host, "node07");
  EXPECT_FALSE(found->isOneMachine);
  EXPECT_EQ(found->ports.size(), 8u);
  const int port = found->ports.front();
  EXPECT_GE(port, 20000);
  EXPECT_LT(port, 30000);
  set({{"SLURM_PROCID", "0"}});
  EXPECT_EQ(findRendezvous()->ports.front(), port);
  set({{"SLURM_STEP_ID", "1"}});
  EXPECT_NE(findRendezvous()->ports.front(), port);
  // With PMIx too: Slurm knows the hosts.
  set({{"PMIX_RANK", "0"}, {"MASTER_PORT", "1234"}, {"MASTER_ADDR", "login"}});
  EXPECT_TRUE(findLauncher()->hasMpi);
  EXPECT_EQ(findRendezvous()->ports, std::vector<int>{1234});
  EXPECT_EQ(findRendezvous()->host, "login");
}

TEST_F(RendezvousTest, Mpirun) {
  set({{"OMPI_COMM_WORLD_RANK", "1"},
       {"OMPI_COMM_WORLD_SIZE", "2"},
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
       {"PMIX_NAMESPACE", "123"}});
  auto found = findRendezvous();
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->host, "127.0.0.1");
  EXPECT_TRUE(found->isOneMachine);
  set({{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}});
  EXPECT_EQ(errorText(),
            "expects MASTER_ADDR, the host of rank 0, since mpirun "
            "does not say that all ranks run on one machine");
  set({{"MASTER_ADDR", "node1"}});
  EXPECT_EQ(findRendezvous()->host, "node1");
}

// A launcher inside of another one is the one that counts.
TEST_F(RendezvousTest, TheInnermostLauncher) {
  set({{"SLURM_PROCID", "0"},
       {"SLURM_STEP_NUM_TASKS", "2"},
       {"OMPI_COMM_WORLD_RANK", "1"},
       {"OMPI_COMM_WORLD_SIZE", "4"},
       {"RANK", "2"},
       {"WORLD_SIZE", "16"}});
  EXPECT_EQ(findLauncher()->name, "mpirun");
  set({{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}});
  EXPECT_EQ(findLauncher()->processes, 16);
  EXPECT_EQ(findRankNumber(), 2);
}

TEST_F(RendezvousTest, WrongVariables) {
  set({{"RANK", "0"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(errorText(),
            "expects MASTER_ADDR with RANK and WORLD_SIZE, but it is not set");
  set({{"MASTER_ADDR", "node1"}});
  EXPECT_EQ(errorText(),
            "expects MASTER_PORT with RANK and WORLD_SIZE, but it is not set");
  set({{"MASTER_PORT", "0"}});
  EXPECT_EQ(errorText(),
            "MASTER_PORT expects a number from 1 to 65535, but got '0'");
  set({{"MASTER_PORT", "29500x"}});
  EXPECT_EQ(errorText(),
            "MASTER_PORT expects a number from 1 to 65535, but got '29500x'");
  set({{"MASTER_PORT", "29500"}, {"RANK", "2"}});
  EXPECT_EQ(errorText(), "RANK expects a number from 0 to 1, but got '2'");
  set({{"RANK", "0"}, {"WORLD_SIZE", "-2"}});
  EXPECT_EQ(errorText(),
            "WORLD_SIZE expects a number from 1 to 1048576, but got '-2'");
  set({{"WORLD_SIZE", "2"}, {"WEFT_LISTENER", "1"}});
  EXPECT_EQ(errorText(),
            "WEFT_LISTENER expects a number from 3 to 1048576, but got '1'");
}

TEST(Rendezvous, FirstHost) {
  for (const auto &[list, first] : std::map<std::string, std::string>{
           {"node07", "node07"},
           {"node07,node08", "node07"},
           {"node[07-09,12],other", "node07"},
           {"node[12]", "node12"},
           {"node[3,5]", "node3"},
           {"rack[1-2]-n[4-8].site", "rack1-n4.site"},
           {"rack[1-2", "rack1"},
           {"", ""},
           {",a", ""}})
    EXPECT_EQ(firstHost(list), first) << list;
}
} // namespace
