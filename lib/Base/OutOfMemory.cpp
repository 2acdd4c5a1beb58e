//===- OutOfMemory.cpp - Ends of a process without memory -----------------===//

#include "weft/Base/OutOfMemory.h"

#include "weft/Base/Temporaries.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <execinfo.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

using namespace weft;

#define WEFT_NO_MEMORY "the system gives no more memory"
#define WEFT_NO_MEMORY_HINT                                                    \
  "raise the limit on memory (ulimit -v, or of the control group), or end "    \
  "other programs"

static constexpr char kSentence[] =
    "weft: error: " WEFT_NO_MEMORY "\nhint: " WEFT_NO_MEMORY_HINT "\n";

Error weft::noMemoryError() {
  return Error(ExitCode::DoesNotFit, WEFT_NO_MEMORY).hint(WEFT_NO_MEMORY_HINT);
}

static bool canMap(size_t bytes) {
  void *probe = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED)
    return false;
  ::munmap(probe, bytes);
  return true;
}

bool weft::isMemoryExhausted() {
  // The heap of the compiler grows by half of this at a time.
  constexpr size_t least = size_t(64) << 20;
  return !canMap(least);
}

Error weft::noThreadError() {
  pthread_attr_t attributes;
  size_t stack = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_destroy(&attributes);
  if (!canMap(stack) || isMemoryExhausted())
    return noMemoryError();
  return Error(ExitCode::Device, "the system does not create another thread")
      .hint("raise the limit on processes (ulimit -u, or of the control "
            "group), or end other programs");
}

/// Whether a thread could not be made.
static bool lacksThread(const std::exception &failure) {
  const auto *error = dynamic_cast<const std::system_error *>(&failure);
  return error && error->code() == std::errc::resource_unavailable_try_again;
}

Error weft::errorOf(const std::exception &failure) {
  if (dynamic_cast<const std::bad_alloc *>(&failure))
    return noMemoryError();
  if (lacksThread(failure))
    return noThreadError();
  return Error(ExitCode::Internal, failure.what());
}

void weft::endWithoutMemory() {
  static std::atomic_flag isEnding = ATOMIC_FLAG_INIT;
  while (isEnding.test_and_set())
    ::pause();
  (void)!::write(STDERR_FILENO, kSentence, sizeof kSentence - 1);
  removeTemporaries();
  ::_exit(static_cast<int>(ExitCode::DoesNotFit));
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

[[noreturn]] static void onTerminate() {
  if (isMemoryExhausted())
    endWithoutMemory();
  if (std::exception_ptr thrown = std::current_exception())
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception &failure) {
      removeTemporaries();
      ::_exit(errorOf(failure).report());
    } catch (...) {
    }
  std::abort();
}

/// The default action follows: a faulting instruction runs again, and a signal
/// that a process has sent comes again.
static void onFault(int number, siginfo_t *info, void *) {
  if (isMemoryExhausted())
    endWithoutMemory();
  ::signal(number, SIG_DFL);
  if (info->si_code <= 0)
    ::raise(number);
}

/// The stack of the main thread may be unable to grow.
static void giveHandlersAStack() {
  static char bytes[1 << 15];
  stack_t stack = {};
  stack.ss_sp = bytes;
  stack.ss_size = sizeof bytes;
  ::sigaltstack(&stack, nullptr);
}

void weft::explainEnds() {
  std::set_terminate(onTerminate);
  // glibc opens its unwinder when the first thread ends or throws, and aborts
  // where it gets no memory for that: open it now.
  void *frame = nullptr;
  (void)::backtrace(&frame, 1);
  giveHandlersAStack();
  for (int number : {SIGSEGV, SIGABRT}) {
    struct sigaction action = {}, before = {};
    // A sanitizer has its own.
    if (::sigaction(number, nullptr, &before) != 0 ||
        before.sa_handler != SIG_DFL)
      continue;
    action.sa_sigaction = onFault;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    ::sigaction(number, &action, nullptr);
  }
}
