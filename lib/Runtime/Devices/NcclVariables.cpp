//===- NcclVariables.cpp - The environment of NCCL's sums -----------------===//
//
// The order in which ncclReduceScatter adds depends on the algorithm, the
// protocol and the channels, which NCCL chooses by the size of a call and by
// its environment. A ring with one protocol and one number of channels adds the
// elements of equal calls in one order: all ZeRO stages have the same calls.
// Settings of a communicator are in NcclRanks.cpp.
//
//===----------------------------------------------------------------------===//

#include "NcclVariables.h"

#include "weft/Base/Error.h"
#include "weft/Base/Text.h"

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

std::string weft::ncclSettingsText(const Settings &settings) {
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

std::string weft::describeDifference(const std::string &first,
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
