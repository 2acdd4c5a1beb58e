//===- NcclFaults.cpp - Faults of the emulated NCCL -----------------------===//
//
// WEFT_EMULATION_NCCL_FAIL=ENTRY:N:ERROR[@RANK], with commas between several:
//   ENTRY  an entry point, or `async`: the asynchronous error of a communicator
//   N      the Nth call of the entry, from 1 on; with `async` and `endless` the
//          Nth operation that runs, each launch of a graph counted
//   ERROR  the name of an error; `endless`: a collective, a send or a receive
//          never completes; `absent`: the rank never takes part in a call that
//          waits for the other ranks
//   RANK   only this rank, by its number in the first communicator
//
//===----------------------------------------------------------------------===//

#include "Fail.h"
#include "NcclObjects.h"
#include "Settings.h"

#include <cstdlib>
#include <mutex>

namespace weft::emulation {

namespace {
enum class Effect { Error, Async, Endless, Absent };

struct Fault {
  std::string entry;
  Effect effect;
  ncclResult_t error;
  uint64_t left; // calls up to it, itself included
  std::optional<int> rank;
};
} // namespace

static std::mutex faultsMutex;
static std::optional<int> firstRank;

static const char *const kOperations[] = {
    "ncclAllGather", "ncclReduceScatter", "ncclAllReduce", "ncclAlltoAll",
    "ncclBroadcast", "ncclSend",          "ncclRecv"};
static const char *const kJobs[] = {"ncclCommInitRankConfig", "ncclCommSplit",
                                    "ncclCommFinalize",
                                    "ncclCommWindowRegister"};
static const char *const kOthers[] = {
    "ncclGetVersion",   "ncclGetUniqueId",         "ncclCommDestroy",
    "ncclCommAbort",    "ncclCommGetAsyncError",   "ncclCommCount",
    "ncclCommCuDevice", "ncclCommUserRank",        "ncclGroupStart",
    "ncclGroupEnd",     "ncclCommWindowDeregister"};

template <size_t N>
static bool isAmong(const char *const (&names)[N], const std::string &name) {
  for (const char *known : names)
    if (name == known)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// The environment variable
//===----------------------------------------------------------------------===//

[[noreturn]] static void failAtFault(const std::string &expected,
                                     const std::string &got) {
  fail("expects WEFT_EMULATION_NCCL_FAIL to " + expected + ", but got '" + got +
       "'");
}

static std::optional<uint64_t> parseNumber(const std::string &text) {
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

static ncclResult_t parseError(const std::string &text) {
  for (int error = 1; error < ncclNumResults; ++error)
    if (text == errorName(static_cast<ncclResult_t>(error)))
      return static_cast<ncclResult_t>(error);
  failAtFault("end with an error", text);
}

static void setEffect(Fault &fault, const std::string &error) {
  const bool isOperation = isAmong(kOperations, fault.entry);
  const bool isJob = isAmong(kJobs, fault.entry);
  if (fault.entry == "async")
    fault.effect = Effect::Async, fault.error = parseError(error);
  else if (!isOperation && !isJob && !isAmong(kOthers, fault.entry))
    failAtFault("name an entry point or async", fault.entry);
  else if (error == "endless" && isOperation)
    fault.effect = Effect::Endless;
  else if (error == "absent" && isJob)
    fault.effect = Effect::Absent;
  else
    fault.effect = Effect::Error, fault.error = parseError(error);
}

static Fault parseFault(const std::string &text) {
  const size_t first = text.find(':'), second = text.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos)
    failAtFault("be ENTRY:N:ERROR", text);
  const size_t at = text.find('@', second);
  Fault fault = {text.substr(0, first), Effect::Error, ncclSuccess, 0, {}};
  std::optional<uint64_t> call =
      parseNumber(text.substr(first + 1, second - first - 1));
  if (!call || *call == 0)
    failAtFault("have the number of a call from 1 on", text);
  fault.left = *call;
  if (at != std::string::npos) {
    std::optional<uint64_t> rank = parseNumber(text.substr(at + 1));
    if (!rank)
      failAtFault("have the number of a rank behind @", text);
    fault.rank = static_cast<int>(*rank);
  }
  setEffect(fault, text.substr(second + 1,
                               at == std::string::npos ? at : at - second - 1));
  return fault;
}

/// Read once: calls are counted from the beginning.
static std::vector<Fault> &faults() {
  static auto *all = [] {
    auto *parsed = new std::vector<Fault>;
    const char *text = std::getenv("WEFT_EMULATION_NCCL_FAIL");
    std::string left = text ? text : "";
    while (!left.empty()) {
      size_t comma = left.find(',');
      parsed->push_back(parseFault(left.substr(0, comma)));
      left = comma == std::string::npos ? "" : left.substr(comma + 1);
    }
    return parsed;
  }();
  return *all;
}

//===----------------------------------------------------------------------===//
// Calls that are counted
//===----------------------------------------------------------------------===//

void setFirstRank(int rank) {
  std::lock_guard<std::mutex> lock(faultsMutex);
  if (!firstRank)
    firstRank = rank;
}

/// Counts a call, and gives the fault whose turn it is.
static const Fault *count(const std::string &entry, Effect effect) {
  std::lock_guard<std::mutex> lock(faultsMutex);
  const Fault *found = nullptr;
  for (Fault &fault : faults())
    if (fault.entry == entry && fault.effect == effect && --fault.left == 0 &&
        (!fault.rank || fault.rank == firstRank))
      found = &fault;
  return found;
}

std::optional<ncclResult_t> injectedFault(const char *entry) {
  // A program asks for the asynchronous error again and again.
  if (std::string(entry) != "ncclCommGetAsyncError")
    record(std::string("call ") + entry);
  const Fault *fault = count(entry, Effect::Error);
  if (!fault)
    return std::nullopt;
  return refuse(fault->error, std::string(entry) + " fails as asked");
}

bool isEndless(Kind kind) { return count(entryOf(kind), Effect::Endless); }

bool isAbsent(const char *entry) { return count(entry, Effect::Absent); }

std::optional<ncclResult_t> injectedAsyncError() {
  const Fault *fault = count("async", Effect::Async);
  if (!fault)
    return std::nullopt;
  return fault->error;
}

} // namespace weft::emulation
