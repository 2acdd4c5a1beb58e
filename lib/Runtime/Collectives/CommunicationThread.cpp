//===- CommunicationThread.cpp - Collectives beside the commands ----------===//

#include "weft/Runtime/Collectives/CommunicationThread.h"

#include <new>

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
  } catch (const std::bad_alloc &) {
    return Error(ExitCode::DoesNotFit, "the machine has no memory left");
  } catch (const std::exception &failure) {
    return Error(ExitCode::Internal, failure.what());
  }
}

void CommunicationThread::run() {
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
      job = nullptr; // what it holds goes before its waiter goes on
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
