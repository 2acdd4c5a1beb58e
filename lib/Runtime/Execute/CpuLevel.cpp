//===- CpuLevel.cpp - The instruction set of library routines -------------===//

#include "weft/Runtime/Execute/CpuLevel.h"

#include "weft/Base/Text.h"
#include "weft/Runtime/Execute/CpuFeatures.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>

#include <sys/syscall.h>
#include <unistd.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

namespace {
/// A level of oneDNN 2.6, and the features that the code for it needs besides
/// the ones of lower levels.
struct Level {
  const char *name;
  CpuIsa isa;                           // of hand-written kernels
  std::array<const char *, 7> features; // null where there are fewer
};
} // namespace

/// From the lowest level to the highest. The features of AVX2 and AVX512_CORE
/// are the ones of x86-64-v3 and -v4.
static constexpr Level kLevels[] = {
    {"SSE41", CpuIsa::Baseline, {"sse4.1"}},
    {"AVX", CpuIsa::Baseline, {"avx"}},
    {"AVX2",
     CpuIsa::Avx2,
     {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"}},
    {"AVX512_CORE",
     CpuIsa::Avx512,
     {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
    {"AVX512_CORE_VNNI", CpuIsa::Avx512, {"avx512vnni"}},
    {"AVX512_CORE_BF16", CpuIsa::Avx512Bf16, {"avx512bf16"}},
    {"AVX512_CORE_AMX", CpuIsa::Amx, {"amx-tile", "amx-int8", "amx-bf16"}},
};

static size_t rankOf(const std::string &level) {
  return size_t(
      std::find_if(std::begin(kLevels), std::end(kLevels),
                   [&](const Level &known) { return known.name == level; }) -
      std::begin(kLevels));
}

/// Asks the system for the registers of AMX, once for all threads of the
/// process (Linux: Documentation/arch/x86/xstate.rst).
static bool requestTiles() {
#if defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

static bool isIntel() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

static bool hasLevel(const Level &level) {
  std::vector<std::string> wanted;
  for (const char *feature : level.features)
    if (feature)
      wanted.push_back(feature);
  return missingCpuFeatures(wanted).empty() &&
         (level.isa != CpuIsa::Amx || requestTiles());
}

/// The highest level that processor and system support.
static size_t findHighest() {
  size_t highest = 0;
  while (highest + 1 < std::size(kLevels) && hasLevel(kLevels[highest + 1]))
    ++highest;
  return highest;
}

//===----------------------------------------------------------------------===//
// The cap
//===----------------------------------------------------------------------===//

/// oneDNN reads the first variable, then the name of older versions.
static constexpr const char *kVariables[] = {"ONEDNN_MAX_CPU_ISA",
                                             "DNNL_MAX_CPU_ISA"};
/// oneDNN treats a longer value as unset.
static constexpr size_t kLongestValue = 31;
/// Levels of oneDNN without code of their own here: VNNI is for integers.
static constexpr char kAvx2Vnni[] = "AVX2_VNNI", kAll[] = "ALL";

/// The value of a variable in capitals, as oneDNN spells levels.
static std::string capOf(const char *variable) {
  const char *value = std::getenv(variable);
  std::string cap = value ? value : "";
  std::transform(cap.begin(), cap.end(), cap.begin(),
                 [](unsigned char c) { return char(std::toupper(c)); });
  return cap;
}

/// The cap of the variables; "" without one. An unknown value of the first
/// variable hides the second.
static std::string findCap() {
  for (const char *variable : kVariables)
    if (std::string cap = capOf(variable);
        !cap.empty() && cap.size() <= kLongestValue)
      return cap == kAvx2Vnni ? "AVX2" : cap;
  return "";
}

Status weft::checkCpuLevel() {
  for (const char *variable : kVariables) {
    const std::string cap = capOf(variable);
    if (cap.empty())
      continue;
    if (cap == kAll || cap == kAvx2Vnni || rankOf(cap) < std::size(kLevels))
      return Status::success();
    std::vector<std::string> names = {kAll, kAvx2Vnni};
    for (const Level &level : kLevels)
      names.push_back(level.name);
    return usageError(variable, " expects one of ", joined(names), ", but got ",
                      inQuotes(std::getenv(variable)));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// The level of the process
//===----------------------------------------------------------------------===//

static const Level &findLevel() {
  static const size_t highest = findHighest();
  if (const size_t cap = rankOf(findCap()); cap <= highest)
    return kLevels[cap];
  const bool isSlow = kLevels[highest].isa == CpuIsa::Avx512Bf16 && isIntel();
  return kLevels[isSlow ? highest - 1 : highest];
}

std::string weft::cpuLevel() { return findLevel().name; }

CpuIsa weft::detectCpuIsa() { return findLevel().isa; }

const char *weft::cpuIsaName(CpuIsa isa) {
  static const char *const names[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4",
                                      "x86-64-v4 with AVX512_BF16",
                                      "x86-64-v4 with AMX"};
  return names[static_cast<int>(isa)];
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
  ::setenv(kVariables[0], level.c_str(), /*replace=*/1);
}
