//===- Nccl.cpp - The entry points of NCCL --------------------------------===//

#include "weft/Runtime/Devices/Nccl.h"

#include "NcclRanks.h"

#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Runtime/Devices/OpenLibrary.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

using namespace weft;

/// The first one that has ncclAlltoAll.
static constexpr int kLeastVersion = 22800;

std::string weft::ncclVersionText(int version) {
  return concat(version / 10000, ".", version % 10000 / 100, ".",
                version % 100);
}

LibraryName NcclLibrary::library() {
  return {"libnccl.so.2", "NCCL (2.28 or later)", cudaLibraryPlaces()};
}

Error NcclLibrary::failure(const char *call, ncclResult_t result,
                           ncclComm_t comm) const {
  std::string text = concat(call, " failed: ", ncclGetErrorString(result));
  if (const char *more = ncclGetLastError(comm); more && *more)
    text += ": " + std::string(more);
  if (result != ncclUnhandledCudaError)
    return communicationError(text);
  // "Cuda failure 2 'out of memory'"
  const bool lacksMemory = text.find("out of memory") != text.npos;
  return Error(lacksMemory ? ExitCode::DoesNotFit : ExitCode::Device, text);
}

/// An older one lacks entry points too: that it is old says more.
static Status checkVersion(NcclLibrary &library) {
  if (!library.ncclGetVersion || !library.ncclGetErrorString ||
      !library.ncclGetLastError)
    return Status::success();
  if (const ncclResult_t got = library.ncclGetVersion(&library.version))
    return library.failure("ncclGetVersion", got, nullptr);
  if (library.version >= kLeastVersion)
    return Status::success();
  return deviceError("expects NCCL ", ncclVersionText(kLeastVersion),
                     " or later, but got ", ncclVersionText(library.version));
}

Expected<NcclLibrary> NcclLibrary::open() {
  auto opened = OpenLibrary::open(NcclLibrary::library());
  if (!opened)
    return opened.takeError();
  NcclLibrary library;
  Status complete;
#define WEFT_FIND_ENTRY(name)                                                  \
  if (Status s = opened->find(#name, library.name); !s && complete)            \
    complete = s.takeError();
  WEFT_NCCL_CALLS(WEFT_FIND_ENTRY)
#undef WEFT_FIND_ENTRY
  if (Status s = checkVersion(library); !s)
    return s.takeError();
  if (!complete)
    return complete.takeError();
  return library;
}

//===- The environment of NCCL's sums -------------------------------------===//

// The order in which ncclReduceScatter adds depends on the algorithm, the
// protocol and the channels, which NCCL chooses by the size of a call and by
// its environment. A ring with one protocol and one number of channels adds the
// elements of equal calls in one order: all ZeRO stages have the same calls.
// Settings of a communicator are in NcclRanks.cpp.

namespace {
struct Variable {
  const char *name, *value; // null: it is removed
};
} // namespace

/// A value also wins over nccl.conf. A variable without one that nccl.conf sets
/// is recorded.
static std::vector<Variable> fixedVariables(const std::string &channels) {
  return {{"NCCL_ALGO", "reducescatter:ring"},
          {"NCCL_PROTO", "reducescatter:simple"},
          {"NCCL_NVLS_ENABLE", "0"},
          {"NCCL_COLLNET_ENABLE", "0"},
          {"NCCL_MIN_CTAS", channels.c_str()},
          {"NCCL_MAX_CTAS", channels.c_str()},
          {"NCCL_TUNER_PLUGIN", "none"},
          {"NCCL_TUNER_CONFIG_FILE", nullptr},
          {"NCCL_MIN_NCHANNELS", nullptr},
          {"NCCL_MAX_NCHANNELS", nullptr},
          {"NCCL_BUFFSIZE", nullptr},
          {"NCCL_NTHREADS", nullptr},
          {"NCCL_SYM_KERNEL", nullptr}};
}

static void fix(const Variable &variable, const std::string &reason,
                bool warns) {
  const char *was = std::getenv(variable.name);
  const bool isOther =
      was && (!variable.value || std::strcmp(was, variable.value) != 0);
  if (isOther && warns)
    warn(std::string(variable.name) + " has no effect: " + reason +
         (variable.value ? " by " + std::string(variable.value) : ""));
  if (variable.value)
    ::setenv(variable.name, variable.value, /*overwrite=*/1);
  else
    ::unsetenv(variable.name);
}

/// Whether results of NCCL may depend on it, not messages alone.
static bool isRecorded(std::string_view name) {
  auto is = [&](const Variable &known) {
    return known.value && name == known.name;
  };
  const std::vector<Variable> fixed = fixedVariables("");
  return name.rfind("NCCL_", 0) == 0 && name.rfind("NCCL_DEBUG", 0) != 0 &&
         std::none_of(fixed.begin(), fixed.end(), is);
}

void weft::fixNcclVariables(int channels, bool warns) {
  const std::string number = std::to_string(channels);
  for (const Variable &variable : fixedVariables(number))
    fix(variable, "the order of native reductions is fixed", warns);
}

void weft::removeNcclCtaPolicy(bool warns) {
  fix({"NCCL_CTA_POLICY", nullptr}, "--gather chooses the policy", warns);
}

/// Lines "name=value".
static std::string ncclSettingsText(const Settings &settings) {
  std::string text;
  for (const auto &[name, value] : settings)
    text += name + "=" + value + "\n";
  return text;
}

/// The values of the lines, by name.
static std::map<std::string, std::string> parseLines(const std::string &text) {
  std::map<std::string, std::string> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    values[line.substr(0, line.find('='))] = line;
  return values;
}

/// The first line that only one of two such texts has: "NAME=A, and not set".
static std::string describeDifference(const std::string &first,
                                      const std::string &second) {
  std::map<std::string, std::string> ours = parseLines(first),
                                     theirs = parseLines(second);
  for (const auto &[name, line] : ours)
    theirs.try_emplace(name, name + " not set");
  for (const auto &[name, line] : theirs) {
    const std::string own =
        ours.try_emplace(name, name + " not set").first->second;
    if (own != line)
      return printable(own, 200) + " and " + printable(line, 200);
  }
  return "beyond their first 16383 bytes";
}

/// The other variables of NCCL in the environment, sorted, except for messages:
/// the rings of a machine may depend on them.
static Settings recordedNcclVariables() {
  Settings found;
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t end = text.find('=');
    if (end != std::string_view::npos && isRecorded(text.substr(0, end)))
      found.emplace_back(text.substr(0, end), text.substr(end + 1));
  }
  std::sort(found.begin(), found.end());
  return found;
}

Settings weft::ncclFacts(const NcclLibrary &library) {
  Settings facts = {{"nccl", ncclVersionText(library.version)}};
  for (auto &variable : recordedNcclVariables())
    facts.push_back(std::move(variable));
  return facts;
}

/// A checkpoint records the settings of rank 0. Those of other ranks may differ
/// with reason, as the name of a network interface does.
Status weft::compareNcclFacts(RankMeetings &meetings, const Settings &facts,
                              bool warns) {
  const std::string text = ncclSettingsText(facts);
  auto digests = meetings.gather(0, digest64(text), "the settings of NCCL");
  if (!digests)
    return digests.takeError();
  const auto other =
      std::find_if(digests->begin(), digests->end(),
                   [&](uint64_t digest) { return digest != digests->front(); });
  if (other == digests->end())
    return Status::success();
  struct Text {
    char text[16384];
  } own = {};
  text.copy(own.text, sizeof own.text - 1);
  auto all = meetings.gather(0, own, "the settings of NCCL");
  if (!all)
    return all.takeError();
  const size_t rank = size_t(other - digests->begin());
  if (warns)
    warn("settings of NCCL differ between ranks 0 and " + std::to_string(rank) +
             ": " + describeDifference(all->front().text, (*all)[rank].text),
         "bits of native reductions may depend on them; a checkpoint records "
         "the settings of rank 0");
  return Status::success();
}

//===- The arena as memory of NCCL ----------------------------------------===//

/// A window has one size on all ranks.
Status NcclWindows::checkRanks(RankMeetings &meetings,
                               const DeviceRanksOptions &options) {
  auto all = meetings.gather(0, options.arenaBytes, "the arenas of the ranks");
  if (!all)
    return all.takeError();
  for (size_t rank = 1; rank < all->size(); ++rank)
    if ((*all)[rank] != all->front())
      refusal = "the arenas have " + std::to_string(all->front()) +
                " bytes in rank 0 and " + std::to_string((*all)[rank]) +
                " in rank " + std::to_string(rank);
  return Status::success();
}

/// NCCL says in three ways that a machine has no windows: ncclInvalidUsage at
/// once, success without a window (2.29 and later), or success with a window
/// that only this rank has (2.28), which nothing tells from a whole one.
Status NcclWindows::add(RankMeetings &meetings, Member member,
                        const DeviceRanksOptions &options) {
  const ncclComm_t comm = member.comm;
  windows.push_back({comm, nullptr});
  Window &window = windows.back();
  const ncclResult_t result = nccl.ncclCommWindowRegister(
      comm, reinterpret_cast<void *>(options.arena), options.arenaBytes,
      &window.handle, NCCL_WIN_COLL_SYMMETRIC);
  const bool refuses =
      result == ncclInvalidUsage || (result == ncclSuccess && !window.handle);
  if (Status s = checkRefusals(meetings, member.group, refuses); !s)
    return s;
  if (result == ncclInvalidUsage) {
    refusal = nccl.failure("ncclCommWindowRegister", result, comm).message();
    windows.pop_back();
    return Status::success();
  }
  if (Status s = settle("ncclCommWindowRegister", result, comm); !s)
    return s;
  if (window.handle)
    return Status::success();
  refusal = "NCCL cannot map the memory of all ranks";
  windows.pop_back();
  return Status::success();
}

/// A registration involves all ranks of a communicator: if one refuses at once,
/// the others would wait for it until the timeout.
Status NcclWindows::checkRefusals(RankMeetings &meetings, int64_t group,
                                  bool refuses) {
  auto place = meetings.placeIn(0);
  if (!place)
    return place.takeError();
  struct Answer {
    int rank;
    bool refuses;
  };
  auto all =
      meetings.gather(group, Answer{place->rank, refuses}, "a window of NCCL");
  if (!all)
    return all.takeError();
  const Answer &first = all->front();
  for (const Answer &each : *all) {
    if (each.refuses == first.refuses)
      continue;
    return deviceError("expects NCCL to register the arenas of all ranks, but "
                       "it refuses the arena of rank ",
                       first.refuses ? first.rank : each.rank,
                       " and accepts the arena of rank ",
                       first.refuses ? each.rank : first.rank)
        .hint("give all ranks the same NCCL_ variables, and the same version "
              "of NCCL and of the driver");
  }
  return Status::success();
}

Status NcclWindows::open(RankMeetings &meetings,
                         const DeviceRanksOptions &options,
                         const std::vector<Member> &communicators) {
  copyEngines = options.copyEngines;
  if (communicators.empty())
    refusal = "native reductions add in no window";
  else if (Status s = checkRanks(meetings, options); !s)
    return s;
  if (refusal.empty())
    if (Status s = addAll(meetings, options, communicators); !s)
      return s;
  if (!copyEngines || refusal.empty())
    return Status::success();
  return deviceError("--gather=ce expects the arena to be a symmetric window, "
                     "but got none: ",
                     refusal)
      .hint("--gather=sm gathers by kernels of NCCL");
}

/// NCCL chooses a kernel by the window of this rank: all ranks have one or
/// none.
Status NcclWindows::addAll(RankMeetings &meetings,
                           const DeviceRanksOptions &options,
                           const std::vector<Member> &communicators) {
  for (const Member &member : communicators)
    if (Status s = add(meetings, member, options); !s)
      return s;
  auto all = meetings.gather(0, int(refusal.empty()), "the windows of NCCL");
  if (!all)
    return all.takeError();
  for (size_t rank = 0; rank < all->size(); ++rank)
    if (!(*all)[rank] && refusal.empty())
      refusal = "rank " + std::to_string(rank) + " has no window";
  return refusal.empty() ? Status::success() : close();
}

Status NcclWindows::close() {
  for (const Window &window : windows)
    if (Status s =
            settle("ncclCommWindowDeregister",
                   nccl.ncclCommWindowDeregister(window.comm, window.handle),
                   window.comm);
        !s)
      return s;
  windows.clear();
  return Status::success();
}

Settings NcclWindows::facts() const {
  return {{"gather", copyEngines ? "ce" : "sm"},
          {"window", refusal.empty() ? "registered" : "none: " + refusal}};
}
