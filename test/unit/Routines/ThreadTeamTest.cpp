//===- ThreadTeamTest.cpp - Threads under settings of others --------------===//
//
// Every thread can override the settings that the environment presets, so a
// thread of a test stands for a process under OMP_DYNAMIC and the like.
//
//===----------------------------------------------------------------------===//

#include "GemmPlan.h"
#include "Harness.h"
#include "weft/Runtime/Execute/ParallelFor.h"

#include <thread>

extern "C" {
void omp_set_dynamic(int dynamic);
void omp_set_max_active_levels(int levels);
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);
}

using namespace weft;

namespace {

/// A product that oneDNN cuts into one part per thread.
constexpr int64_t kSize = 256;
const WeftGemmRecord kProduct = {
    1, kSize, kSize, kSize,    0,        0, kSize, kSize, kSize, 0, 0,
    0, 0,     0,     WEFT_F32, WEFT_F32, 0, 0,     0,     0,     0, 0};

/// The result of the routine, written over NaNs.
Floats multiply(WeftContext &context) {
  Floats a = randomFloats(kSize * kSize, 1), b = randomFloats(kSize * kSize, 2);
  Floats c(kSize * kSize, NAN);
  callOk(context, weft_cpu_gemm, {a.data(), b.data(), c.data()}, kProduct);
  return c;
}

/// Runs on a thread that no one has set up.
template <typename Body> void onNewThread(Body body) {
  std::thread thread(body);
  thread.join();
}

void setNoThreads() {
  omp_set_dynamic(1);
  omp_set_max_active_levels(0);
  omp_set_num_threads(1);
}

} // namespace

TEST(ThreadTeam, SettingsOfTheEnvironmentChangeNoProduct) {
  TestContext one(1);
  Floats want = multiply(one);
  onNewThread([&] {
    setNoThreads();
    TestContext two(2);
    EXPECT_EQ(two.threads(), 2);
    EXPECT_EQ(two.threadShortage(), "");
    EXPECT_TRUE(sameBits(multiply(two), want));
  });
}

TEST(ThreadTeam, AContextMayRunOnAnotherThread) {
  TestContext context(2);
  Floats want = multiply(context);
  onNewThread([&] {
    setNoThreads();
    EXPECT_TRUE(sameBits(multiply(context), want));
  });
}

TEST(ThreadTeam, HasAsManyMembersAsAskedFor) {
  for (int threads : {1, 2, 3, 5}) {
    ThreadTeam team = formTeam(threads);
    EXPECT_EQ(team.members, threads);
    EXPECT_EQ(team.shortage, "");
    EXPECT_EQ(omp_get_max_threads(), threads);
  }
  EXPECT_TRUE(ensureTeam(2));
  EXPECT_EQ(omp_get_max_threads(), 2);
}

TEST(ThreadTeam, LibraryThreadsEndWithTheirScope) {
  formTeam(2);
  {
    LibraryThreads scope(1);
    EXPECT_EQ(omp_get_max_threads(), 1);
  }
  EXPECT_EQ(omp_get_max_threads(), 2);
}

TEST(ThreadTeam, OneDnnIsTheOneThatIsKnown) {
  EXPECT_EQ(findWrongOneDnn(*dnnl_version()), "");
  dnnl_version_t other = *dnnl_version();
  other.minor = 7;
  EXPECT_EQ(findWrongOneDnn(other),
            "expects oneDNN 2.6, which the program was built for, but this "
            "machine has 2.7");
  other = *dnnl_version();
  other.cpu_runtime = DNNL_RUNTIME_TBB;
  EXPECT_EQ(findWrongOneDnn(other),
            "expects a oneDNN that was built for OpenMP, but this machine has "
            "one with other threads");
}
