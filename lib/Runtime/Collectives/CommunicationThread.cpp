//===- CommunicationThread.cpp - Thread for collectives -------------------===//

#include "weft/Runtime/Collectives/CommunicationThread.h"

#include "weft/Base/OutOfMemory.h"

#include <cstdint>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace weft;

CommunicationThread::CommunicationThread() : thread([this] { run(); }) {}

CommunicationThread::~CommunicationThread() { join(); }

void CommunicationThread::stop() {
  std::lock_guard<std::mutex> lock(mutex);
  isOver = true;
  started.notify_one();
  ended.notify_all();
}

void CommunicationThread::join() {
  stop();
  if (thread.joinable())
    thread.join();
}

CommunicationThread::Ticket CommunicationThread::start(Job job) {
  Ticket ticket;
  {
    std::lock_guard<std::mutex> lock(mutex);
    jobs.push_back(std::move(job));
    ticket = ++last;
  }
  started.notify_one();
  return ticket;
}

Status CommunicationThread::wait(Ticket ticket) {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return done >= ticket || isOver; });
  if (done < ticket)
    return Error(ExitCode::Communication, "the rank has left its stream");
  if (failedAt != 0 && ticket >= failedAt)
    return failure.error();
  return Status::success();
}

/// No exception leaves the thread.
static Status guarded(const CommunicationThread::Job &job) {
  try {
    return job();
  } catch (const std::exception &failure) {
    return errorOf(failure);
  }
}

/// Computation holds a processor for milliseconds, and the messages of all
/// ranks would wait for it. This thread works little at a time, so it requests
/// short scheduler slices. Linux before 6.12 ignores the request; nothing
/// depends on it.
static void askForShortSlices() {
  // struct sched_attr of linux/sched/types.h up to its first version.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {};
  attributes.size = sizeof attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER)
    return;
  attributes.size = sizeof attributes;
  attributes.runtime = 100'000; // ns: the shortest
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void CommunicationThread::run() {
  askForShortSlices();
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    started.wait(lock, [&] { return isOver || !jobs.empty(); });
    if (isOver)
      return;
    Job job = std::move(jobs.front());
    jobs.pop_front();
    if (failedAt == 0) {
      lock.unlock();
      Status status = guarded(job);
      job = nullptr; // frees its captures before its waiter resumes
      lock.lock();
      if (!status) {
        failure = std::move(status);
        failedAt = done + 1;
      }
    }
    ++done;
    ended.notify_all();
  }
}
