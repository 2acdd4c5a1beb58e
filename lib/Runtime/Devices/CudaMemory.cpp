//===- CudaMemory.cpp - Memory of a device, measured ----------------------===//
//
// The driver tells free and total bytes, and only in a context. The first look
// finds the memory of the context and other programs. From then on free memory
// that disappears while this program loads code, makes streams, opens libraries
// and connects ranks counts as its own.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Devices/CudaDevice.h"

#include <algorithm>

using namespace weft;

Status CudaDevice::measureMemory(bool isOwn) {
  size_t free = 0, total = 0;
  if (Status s = cuda.cuMemGetInfo_v2(&free, &total); !s)
    return s;
  if (memory.total == 0)
    memory.before = total - std::min(free, total);
  else if (isOwn && free < memory.free)
    memory.own += memory.free - free;
  memory.free = free;
  memory.total = total;
  return Status::success();
}

std::string CudaDevice::describeMemory() const {
  return "arena " + humanBytes(allBytes) + ", outside it " +
         humanBytes(int64_t(memory.own)) + " of this program and " +
         humanBytes(int64_t(memory.before)) +
         " of the context and other programs";
}

Error CudaDevice::tooLittle(const std::string &what) const {
  const int ranks = options.ranksOfProcess;
  const std::string who =
      ranks == 1 ? "the program needs "
                 : std::to_string(ranks) + " ranks of the program need ";
  // Memory of a later rank may be held by earlier ones.
  const bool isTaken =
      uint64_t(neededBytes()) <= memory.total && options.rank == 0;
  return Error(ExitCode::DoesNotFit,
               what + who + humanBytes(neededBytes()) + ", but " + chip.device +
                   " has " + humanBytes(int64_t(memory.free)) + " free of " +
                   humanBytes(int64_t(memory.total)) + ": " + describeMemory())
      .hint((isTaken ? "other processes hold memory of the device (nvidia-smi "
                       "lists them): end them, choose another device with "
                       "CUDA_VISIBLE_DEVICES, or "
                     : "") +
            std::string("compile with a smaller --batch or --seq"));
}

/// Before any byte of data is read.
Status CudaDevice::checkMemory() const {
  if (uint64_t(neededBytes()) <= memory.free)
    return Status::success();
  return tooLittle("");
}

/// Where the constants begin.
int64_t CudaDevice::constantsOffset() const {
  return alignConstant(executable.arenaBytes);
}

/// With the constants behind it. Another process may have been faster.
Status CudaDevice::allocateArena() {
  if (Status s = measureMemory(/*isOwn=*/true); !s)
    return s;
  const bool isShared = options.ranksAreProcesses && options.ranks > 1;
  auto made = CudaArena::make(cuda, device, allBytes, isShared);
  if (made) {
    arena = std::move(*made);
    return measureMemory(/*isOwn=*/false);
  }
  Error error = made.takeError();
  if (error.code() != ExitCode::DoesNotFit || !measureMemory(/*isOwn=*/true))
    return error;
  return tooLittle(error.message() + ": ");
}

/// The channels of communicators are made after the arena.
Error CudaDevice::withoutMemoryForRanks(Error error) {
  if (error.code() != ExitCode::DoesNotFit || !measureMemory(/*isOwn=*/true))
    return error;
  return Error(ExitCode::DoesNotFit,
               error.message() + ": " + chip.device + " has " +
                   humanBytes(int64_t(memory.free)) + " free of " +
                   humanBytes(int64_t(memory.total)) + ": " + describeMemory())
      .hint("compile with a smaller --batch or --seq, or with --device or "
            "--memory-limit, which reserve memory for NCCL");
}

Json CudaDevice::observations() const {
  Json seen = Json::object();
  seen.set("memory_bytes", int64_t(memory.total));
  seen.set("memory_before_bytes", int64_t(memory.before));
  seen.set("arena_bytes", int64_t(arena.size()));
  seen.set("outside_arena_bytes", int64_t(memory.own));
  if (!cpus.empty())
    seen.set("cpus", cpus);
  if (ranks)
    for (const auto &[name, text] : ranks->facts())
      seen.set(name, text);
  return seen;
}
