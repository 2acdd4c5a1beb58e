//===- CpuLevel.cpp - The instruction set of oneDNN -----------------------===//

#include "weft/Runtime/Run/CpuLevel.h"

#include "weft/Runtime/Execute/CpuFeatures.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>

using namespace weft;

/// oneDNN reads the first variable, then the name of older versions.
static constexpr char kVariable[] = "ONEDNN_MAX_CPU_ISA";
static constexpr char kOldVariable[] = "DNNL_MAX_CPU_ISA";
/// oneDNN treats a longer value as unset.
static constexpr size_t kLongestValue = 31;

namespace {
/// A level of oneDNN 2.6 and the features that it adds to lower levels.
struct Level {
  const char *name;
  std::array<const char *, 4> features; // null where there are fewer
};
} // namespace

/// From the lowest level to the highest.
static constexpr Level kLevels[] = {
    {"SSE41", {"sse4.1"}},
    {"AVX", {"avx"}},
    {"AVX2", {"avx2", "fma"}},
    {"AVX512_CORE", {"avx512f", "avx512bw", "avx512vl", "avx512dq"}},
    {"AVX512_CORE_VNNI", {"avx512vnni"}},
    {"AVX512_CORE_BF16", {"avx512bf16"}},
    {"AVX512_CORE_AMX", {"amx-tile", "amx-int8", "amx-bf16"}},
};

static bool hasLevel(const Level &level) {
  std::vector<std::string> wanted;
  for (const char *feature : level.features)
    if (feature)
      wanted.push_back(feature);
  return missingCpuFeatures(wanted).empty();
}

static size_t rankOf(const std::string &level) {
  return size_t(
      std::find_if(std::begin(kLevels), std::end(kLevels),
                   [&](const Level &known) { return known.name == level; }) -
      std::begin(kLevels));
}

/// The highest level that this processor supports.
static std::string ownLevel() {
  std::string best = kLevels[0].name;
  for (const Level &level : kLevels) {
    if (!hasLevel(level))
      break;
    best = level.name;
  }
  return best;
}

/// The cap of the variables in capitals, as oneDNN spells levels; "" without
/// one. An unknown value of the first variable hides the second.
static std::string ownCap() {
  for (const char *variable : {kVariable, kOldVariable}) {
    const char *value = std::getenv(variable);
    std::string cap = value ? value : "";
    if (cap.empty() || cap.size() > kLongestValue)
      continue;
    std::transform(cap.begin(), cap.end(), cap.begin(),
                   [](unsigned char c) { return char(std::toupper(c)); });
    // VNNI is for integers, so products of weft use AVX2.
    return cap == "AVX2_VNNI" ? "AVX2" : cap;
  }
  return "";
}

std::string weft::cpuLevel() {
  const std::string cap = ownCap();
  const std::string own = ownLevel();
  return rankOf(cap) < rankOf(own) ? cap : own;
}

size_t weft::findLeastLevel(const std::vector<std::string> &levels) {
  return size_t(
      std::min_element(levels.begin(), levels.end(),
                       [](const std::string &a, const std::string &b) {
                         return rankOf(a) < rankOf(b);
                       }) -
      levels.begin());
}

void weft::capCpuLevel(const std::string &level) {
  ::setenv(kVariable, level.c_str(), /*replace=*/1);
}
