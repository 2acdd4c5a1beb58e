//===- OutOfMemoryTest.cpp - Ends of a process without memory -------------===//

#include "weft/Base/OutOfMemory.h"

#include <csignal>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace weft;

namespace {

constexpr char kNoMemory[] = "^weft: error: the system gives no more memory\n"
                             "hint: raise the limit on memory ";

class OutOfMemoryDeathTest : public testing::Test {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    GTEST_SKIP() << "sanitizers need address space";
#endif
#endif
  }
};

/// No memory from now on.
void limitMemory() {
  rlimit limit = {rlim_t(1) << 20, rlim_t(1) << 20};
  setrlimit(RLIMIT_AS, &limit);
}

/// Frames of 64 KiB each, which know the one before.
int useStack(int depth, const volatile char *before) {
  volatile char bytes[1 << 16];
  bytes[0] = *before;
  return depth == 0 ? bytes[0] : useStack(depth - 1, bytes) + bytes[0];
}

} // namespace

TEST(OutOfMemory, ThereIsMemory) { EXPECT_FALSE(isMemoryExhausted()); }

TEST(OutOfMemory, ErrorsOfExceptions) {
  EXPECT_EQ(errorOf(std::bad_alloc()).code(), ExitCode::DoesNotFit);
  EXPECT_EQ(errorOf(std::runtime_error("x")).code(), ExitCode::Internal);
  EXPECT_EQ(errorOf(std::runtime_error("x")).message(), "x");
  const Error thread = errorOf(std::system_error(
      std::make_error_code(std::errc::resource_unavailable_try_again)));
  EXPECT_EQ(thread.code(), ExitCode::Device);
  EXPECT_EQ(thread.message(), "the system does not create another thread");
}

TEST_F(OutOfMemoryDeathTest, OneSentenceAndFour) {
  EXPECT_EXIT(endWithoutMemory(), testing::ExitedWithCode(4), kNoMemory);
}

TEST_F(OutOfMemoryDeathTest, AnExceptionThatNobodyCatches) {
  auto thrown = [] {
    explainEnds();
    std::thread([] { throw std::bad_alloc(); }).join();
  };
  EXPECT_EXIT(thrown(), testing::ExitedWithCode(4), kNoMemory);
}

TEST_F(OutOfMemoryDeathTest, AThreadThatHasNoStack) {
  auto starts = []() noexcept {
    explainEnds();
    limitMemory();
    std::thread([] {}).join();
  };
  EXPECT_EXIT(starts(), testing::ExitedWithCode(4), kNoMemory);
}

TEST_F(OutOfMemoryDeathTest, AnAllocationThatNobodyChecks) {
  auto writes = [] {
    explainEnds();
    limitMemory();
    *static_cast<volatile char *>(malloc(size_t(1) << 30)) = 1;
  };
  EXPECT_EXIT(writes(), testing::ExitedWithCode(4), kNoMemory);
}

TEST_F(OutOfMemoryDeathTest, AStackThatCannotGrow) {
  auto grows = [] {
    explainEnds();
    limitMemory();
    const char first = 1;
    useStack(100, &first);
  };
  EXPECT_EXIT(grows(), testing::ExitedWithCode(4), kNoMemory);
}

TEST_F(OutOfMemoryDeathTest, AFaultWithMemoryIsOne) {
  auto faults = [] {
    explainEnds();
    *reinterpret_cast<volatile char *>(uintptr_t(8)) = 1;
  };
  EXPECT_EXIT(faults(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(OutOfMemoryDeathTest, ASignalThatWasSentEndsTheProcess) {
  for (int number : {SIGSEGV, SIGABRT}) {
    auto isSent = [&] {
      explainEnds();
      ::kill(::getpid(), number);
      std::exit(0);
    };
    EXPECT_EXIT(isSent(), testing::KilledBySignal(number), "");
  }
}
