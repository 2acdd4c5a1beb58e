//===- CudaArenaTest.cpp - Memory of a device by mapping ------------------===//

#include "FakeDriver.h"

#include "gtest/gtest.h"

using namespace weft;

namespace {

constexpr size_t kMiB = size_t(1) << 20;

struct CudaArenaTest : testing::Test {
  Expected<CudaArena> make(int64_t bytes, bool isShared) {
    return CudaArena::make(CudaCalls(fake.table()), 0, bytes, isShared);
  }

  FakeDriver fake;
};

TEST_F(CudaArenaTest, OfOneProcessHasTheUnitOfTheDevice) {
  fake.multicastGranularity = 32 * kMiB;
  fake.hasFabric = true;
  auto arena = make(5 * kMiB, false);
  ASSERT_TRUE(arena);
  EXPECT_EQ(arena->size(), 6 * kMiB);
  EXPECT_EQ(fake.memoryBytes, 6 * kMiB);
  EXPECT_EQ(fake.count("cuMulticastGetGranularity"), 0);
  EXPECT_EQ(fake.memoryProperties.requestedHandleTypes,
            CU_MEM_HANDLE_TYPE_NONE);
  EXPECT_EQ(fake.memoryProperties.allocFlags.gpuDirectRDMACapable, 0);
}

TEST_F(CudaArenaTest, OfSeveralProcessesIsExportableInUnitsOfMulticast) {
  fake.multicastGranularity = 32 * kMiB;
  auto arena = make(5 * kMiB, true);
  ASSERT_TRUE(arena);
  EXPECT_EQ(arena->size(), 32 * kMiB);
  EXPECT_EQ(fake.memoryProperties.requestedHandleTypes,
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  EXPECT_EQ(fake.memoryProperties.allocFlags.gpuDirectRDMACapable, 1);
}

TEST_F(CudaArenaTest, WithoutMulticastHasTheUnitOfTheDevice) {
  auto arena = make(5 * kMiB, true);
  ASSERT_TRUE(arena);
  EXPECT_EQ(arena->size(), 6 * kMiB);
}

TEST_F(CudaArenaTest, OfAFabricIsExportableThereIfThatIsPermitted) {
  fake.hasFabric = true;
  const int both =
      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
  ASSERT_TRUE(make(kMiB, true));
  EXPECT_EQ(int(fake.memoryProperties.requestedHandleTypes), both);
  fake.isFabricPermitted = false;
  ASSERT_TRUE(make(kMiB, true));
  EXPECT_EQ(fake.memoryProperties.requestedHandleTypes,
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  EXPECT_EQ(fake.leaks(), "");
}

} // namespace
