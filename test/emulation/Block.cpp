//===- Block.cpp - Threads of a block together ----------------------------===//

#include "Block.h"

#include "Fail.h"
#include "Scheduler.h"
#include "Settings.h"

#include <cstdlib>
#include <cstring>
#include <set>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// State of a block
//===----------------------------------------------------------------------===//

namespace {
/// Threads that have come to a barrier of the block.
struct Barrier {
  uint32_t arrived = 0, expected = 0, sum = 0;
  int32_t site = 0;
};

/// Lanes of a warp that have come to do something together.
struct Meeting {
  uint32_t mask, arrived;
  WeftEmuWarpWork work;
  int32_t site;
};

struct Warp {
  Meeting meetings[kWarp];
  uint32_t numMeetings = 0, epoch = 0;
  void *records[kWarp];
};

struct Block {
  Barrier barriers[16];
  Warp warps[kMaxThreads / kWarp];
  uint32_t firstEpoch = 0, epoch = 0;
};

/// The dynamic shared memory, aligned as a device may ask for.
struct alignas(1024) SharedMemory {
  char bytes[kMaxSharedBytes];
};
} // namespace

static Block block;
static SharedMemory sharedBytes;

static void startBlock() {
  const Grid &grid = Scheduler::get().grid();
  for (Barrier &barrier : block.barriers)
    barrier = {};
  for (uint32_t i = 0; i * kWarp < Scheduler::get().numThreads(); ++i)
    block.warps[i].numMeetings = block.warps[i].epoch = 0;
  block.firstEpoch = ++block.epoch;
  std::memset(sharedBytes.bytes, kPoison, grid.sharedBytes);
  if (grid.sharedBegin)
    std::memset(grid.sharedBegin, kPoison, grid.sharedEnd - grid.sharedBegin);
}

void runGrid(const Grid &grid, const std::function<void()> &thread,
             Order &order) {
  Scheduler::get().blockStart = startBlock;
  Scheduler::get().run(grid, thread, order);
}

bool isInGrid() { return Scheduler::get().isRunning(); }

static Thread &self() {
  if (!isInGrid())
    fail("no kernel runs, but something asks for its thread");
  return Scheduler::get().current();
}

Moment currentMoment() {
  Thread &thread = self();
  uint32_t warp = thread.number / kWarp;
  return {Scheduler::get().block(), thread.number, warp,
          block.firstEpoch,         block.epoch,   block.warps[warp].epoch};
}

bool isOnStack(const void *place) {
  return Scheduler::get().stackBytes().has(place);
}

Bytes dynamicShared() {
  return {sharedBytes.bytes,
          sharedBytes.bytes + Scheduler::get().grid().sharedBytes};
}

Bytes sharedRoom() {
  return {sharedBytes.bytes, sharedBytes.bytes + kMaxSharedBytes};
}

Bytes staticShared() {
  const Grid &grid = Scheduler::get().grid();
  return {grid.sharedBegin, grid.sharedEnd};
}

//===----------------------------------------------------------------------===//
// Barriers of the block
//===----------------------------------------------------------------------===//

static void join(Barrier &barrier, uint32_t expected, int32_t site) {
  if (barrier.arrived != 0 &&
      (barrier.expected != expected || barrier.site != site))
    fail("threads of a block meet at different barriers: thread " +
         std::to_string(self().number) + " at place " + std::to_string(site) +
         " for " + std::to_string(expected) + " threads, others at place " +
         std::to_string(barrier.site) + " for " +
         std::to_string(barrier.expected));
  barrier.expected = expected;
  barrier.site = site;
}

/// Gives how many came with a value.
static uint32_t meetBlock(uint32_t id, uint32_t expected, bool value,
                          int32_t site) {
  Scheduler &scheduler = Scheduler::get();
  Thread &thread = self();
  if (id >= 16)
    fail("expects a barrier 0 to 15, but got " + std::to_string(id));
  Barrier &barrier = block.barriers[id];
  join(barrier, expected ? expected : scheduler.numThreads(), site);
  barrier.sum += value;
  thread.barrier = id;
  thread.wait = Wait::Block;
  if (++barrier.arrived == barrier.expected) {
    for (uint32_t i = 0; i < scheduler.numThreads(); ++i) {
      Thread &other = scheduler.thread(i);
      if (other.wait == Wait::Block && other.barrier == id) {
        other.result = barrier.sum;
        scheduler.release(other);
      }
    }
    barrier = {};
    ++block.epoch;
  }
  scheduler.yield();
  return thread.result;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// The lanes of a warp that the block has.
static uint32_t lanesOf(uint32_t warp) {
  uint32_t left = Scheduler::get().numThreads() - warp * kWarp;
  return left >= kWarp ? kAllLanes : (1u << left) - 1;
}

static Meeting &findMeeting(Warp &warp, uint32_t mask, WeftEmuWarpWork work,
                            int32_t site) {
  for (uint32_t i = 0; i < warp.numMeetings; ++i) {
    Meeting &meeting = warp.meetings[i];
    if (meeting.mask != mask)
      continue;
    if (meeting.work != work || meeting.site != site)
      fail("lanes of a warp meet at different places: thread " +
           std::to_string(self().number) + " at " + std::to_string(site) +
           ", others at " + std::to_string(meeting.site));
    return meeting;
  }
  if (warp.numMeetings == kWarp)
    fail("lanes of a warp wait in too many ways: " + describeThreads());
  warp.meetings[warp.numMeetings] = {mask, 0, work, site};
  return warp.meetings[warp.numMeetings++];
}

static void finishMeeting(Warp &warp, Meeting &meeting, uint32_t firstThread) {
  void *records[kWarp] = {};
  uint32_t mask = meeting.mask;
  WeftEmuWarpWork work = meeting.work;
  meeting = warp.meetings[--warp.numMeetings];
  for (uint32_t left = mask; left; left &= left - 1) {
    uint32_t lane = __builtin_ctz(left);
    records[lane] = warp.records[lane];
    Scheduler::get().release(Scheduler::get().thread(firstThread + lane));
  }
  if (work)
    work(records, mask);
}

static void meetWarp(uint32_t mask, void *record, WeftEmuWarpWork work,
                     int32_t site) {
  Thread &thread = self();
  uint32_t lane = thread.place.lane, number = thread.number / kWarp;
  Warp &warp = block.warps[number];
  if (!(mask >> lane & 1))
    fail("thread " + std::to_string(thread.number) +
         " meets lanes of its warp, but is not among them");
  mask &= lanesOf(number);
  Meeting &meeting = findMeeting(warp, mask, work, site);
  warp.records[lane] = record;
  meeting.arrived |= 1u << lane;
  thread.mask = mask;
  thread.wait = Wait::Warp;
  if (meeting.arrived == mask)
    finishMeeting(warp, meeting, thread.number - lane);
  Scheduler::get().yield();
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

namespace {
struct Exchange {
  int32_t kind;
  uint32_t value, lane, clamp, result;
};
} // namespace

/// The lane that a lane's result comes from, as PTX defines it.
static uint32_t sourceOf(const Exchange &exchange, uint32_t lane) {
  uint32_t operand = exchange.lane & 31, clamp = exchange.clamp & 31;
  uint32_t segment = exchange.clamp >> 8 & 31;
  int last = int((lane & segment) | (clamp & ~segment));
  int from = int((lane & segment) | (operand & ~segment));
  switch (exchange.kind) {
  case WeftEmuUp:
    from = int(lane) - int(operand);
    return uint32_t(from >= last ? from : int(lane));
  case WeftEmuDown:
    from = int(lane) + int(operand);
    break;
  case WeftEmuXor:
    from = int(lane ^ operand);
    break;
  }
  return uint32_t(from <= last ? from : int(lane));
}

static void exchangeValues(void **records, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1) {
    uint32_t lane = __builtin_ctz(left);
    auto &mine = *static_cast<Exchange *>(records[lane]);
    uint32_t source = sourceOf(mine, lane);
    if (source >= kWarp || !records[source])
      fail("lane " + std::to_string(lane) + " wants the value of lane " +
           std::to_string(source) + ", which does not take part");
    mine.result = static_cast<Exchange *>(records[source])->value;
  }
}

static void vote(void **records, uint32_t mask) {
  uint32_t votes = 0;
  for (uint32_t left = mask; left; left &= left - 1)
    votes |= *static_cast<uint32_t *>(records[__builtin_ctz(left)])
                 ? left & -left
                 : 0;
  for (uint32_t left = mask; left; left &= left - 1)
    *static_cast<uint32_t *>(records[__builtin_ctz(left)]) = votes;
}

static void orderMemory(void **, uint32_t) {
  ++block.warps[self().number / kWarp].epoch;
}

} // namespace weft::emulation

//===----------------------------------------------------------------------===//
// Emulation.h
//===----------------------------------------------------------------------===//

using namespace weft::emulation;

/// Barriers, as WEFT_EMULATION_RECORD and WEFT_EMULATION_SKIP name them.
static const char *const kBlockBarrier = "block", *const kWarpBarrier = "warp";

/// WEFT_EMULATION_SKIP=KERNEL:BARRIER:PLACE, a kernel without one of its
/// barriers.
static std::string skippedBarrier() {
  const char *text = std::getenv("WEFT_EMULATION_SKIP");
  std::string name = text ? text : "";
  size_t second = name.rfind(':');
  size_t first = second ? name.rfind(':', second - 1) : std::string::npos;
  auto isName = [&] {
    if (second == std::string::npos || first == std::string::npos)
      return false;
    std::string barrier = name.substr(first + 1, second - first - 1);
    return first != 0 && second + 1 != name.size() &&
           (barrier == kBlockBarrier || barrier == kWarpBarrier) &&
           name.find_first_not_of("0123456789", second + 1) ==
               std::string::npos;
  };
  if (!name.empty() && !isName())
    fail("expects WEFT_EMULATION_SKIP to be KERNEL:block:PLACE or "
         "KERNEL:warp:PLACE, but got '" +
         name + "'");
  return name;
}

/// Whether a barrier does nothing here. Each that is not is recorded once.
static bool isSkipped(const char *barrier, int32_t site) {
  static const std::string skipped = skippedBarrier();
  static const bool records = std::getenv("WEFT_EMULATION_RECORD") != nullptr;
  if (skipped.empty() && !records)
    return false;
  std::string name = kernelName() + ":" + barrier + ":" + std::to_string(site);
  static auto *seen = new std::set<std::string>;
  if (records && seen->insert(name).second)
    record("barrier " + name);
  return name == skipped;
}

const WeftEmuPlace *weft_emu_place(void) { return &self().place; }

void weft_emu_barrier(uint32_t id, uint32_t threads, int32_t site) {
  if (!isSkipped(kBlockBarrier, site))
    meetBlock(id, threads, false, site);
}

uint32_t weft_emu_barrier_count(uint32_t value, int32_t site) {
  return meetBlock(0, 0, value != 0, site);
}

void weft_emu_warp_barrier(uint32_t mask, int32_t site) {
  if (!isSkipped(kWarpBarrier, site))
    meetWarp(mask, nullptr, orderMemory, site);
}

uint32_t weft_emu_shuffle(int32_t kind, uint32_t mask, uint32_t value,
                          uint32_t lane, uint32_t clamp, int32_t site) {
  Exchange exchange = {kind, value, lane, clamp, 0};
  meetWarp(mask, &exchange, exchangeValues, site);
  return exchange.result;
}

uint32_t weft_emu_ballot(uint32_t mask, uint32_t value, int32_t site) {
  meetWarp(mask, &value, vote, site);
  return value;
}

void weft_emu_together(uint32_t mask, void *record, WeftEmuWarpWork work,
                       int32_t site) {
  meetWarp(mask, record, work, site);
}

void *weft_emu_shared(void) { return sharedBytes.bytes; }

uint16_t weft_emu_to_bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (value != value)
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Compilers call this to round to bf16 where their own library has no such
// function. The result is in the low half of the register.
extern "C" __attribute__((weak)) float __truncsfbf2(float value) {
  uint32_t bits = weft_emu_to_bf16(value);
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
