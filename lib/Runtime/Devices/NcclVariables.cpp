//===- NcclVariables.cpp - The environment of NCCL's sums -----------------===//
//
// The order in which ncclReduceScatter adds depends on the algorithm, the
// protocol and the channels, which NCCL chooses by the size of a call and by
// its environment. A ring with one protocol and one number of channels adds the
// elements of equal calls in one order: all ZeRO stages have the same calls.
//
//===----------------------------------------------------------------------===//

#include "NcclVariables.h"

#include "weft/Formats/Error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>

using namespace weft;

namespace {
struct Variable {
  const char *name, *value; // null: it must not be set
};
} // namespace

/// They also win over nccl.conf.
static const Variable kFixed[] = {
    {"NCCL_ALGO", "reducescatter:ring"},
    {"NCCL_PROTO", "reducescatter:simple"},
    {"NCCL_NVLS_ENABLE", "0"},
    {"NCCL_COLLNET_ENABLE", "0"},
    // The configuration of the communicators has both.
    {"NCCL_MIN_CTAS", nullptr},
    {"NCCL_MAX_CTAS", nullptr},
    {"NCCL_MIN_NCHANNELS", nullptr},
    {"NCCL_MAX_NCHANNELS", nullptr},
    {"NCCL_BUFFSIZE", nullptr},
    {"NCCL_NTHREADS", nullptr},
    {"NCCL_SYM_KERNEL", nullptr},
    {"NCCL_TUNER_PLUGIN", nullptr},
    {"NCCL_TUNER_CONFIG_FILE", nullptr}};

static void fix(const Variable &variable, bool speaks) {
  const char *was = std::getenv(variable.name);
  const bool isOther =
      was && (!variable.value || std::strcmp(was, variable.value) != 0);
  if (isOther && speaks)
    warn(std::string(variable.name) +
         " has no effect: the order of native reductions is fixed");
  if (variable.value)
    ::setenv(variable.name, variable.value, /*overwrite=*/1);
  else
    ::unsetenv(variable.name);
}

/// Whether results of NCCL may depend on it, not messages alone.
static bool isRecorded(std::string_view name) {
  auto is = [&](const Variable &known) { return name == known.name; };
  return name.rfind("NCCL_", 0) == 0 && name.rfind("NCCL_DEBUG", 0) != 0 &&
         std::none_of(std::begin(kFixed), std::end(kFixed), is);
}

void weft::fixNcclVariables(bool speaks) {
  for (const Variable &variable : kFixed)
    fix(variable, speaks);
}

Settings weft::recordedNcclVariables() {
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
