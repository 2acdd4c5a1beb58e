//===- CpuFeatures.cpp - Does this machine have a feature -----------------===//

#include "weft/Runtime/Execute/CpuFeatures.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace weft;

#if defined(__x86_64__)

namespace {

/// State of wide registers that the operating system must save (XCR0).
constexpr uint64_t kAvxState = 0x6;
constexpr uint64_t kAvx512State = 0xe6;
constexpr uint64_t kTileState = 0x60000;

struct FeatureBit {
  const char *name = nullptr;
  int bit = 0;
  uint64_t state = 0;
};
constexpr FeatureBit plain(const char *name, int bit) { return {name, bit, 0}; }
constexpr FeatureBit avx(const char *name, int bit) {
  return {name, bit, kAvxState};
}
constexpr FeatureBit avx512(const char *name, int bit) {
  return {name, bit, kAvx512State};
}
constexpr FeatureBit amx(const char *name, int bit) {
  return {name, bit, kTileState};
}

enum Register { Eax, Ebx, Ecx, Edx };

/// A word that CPUID reports, and the features that are bits of it: the list
/// ends where a name is missing.
struct FeatureWord {
  struct {
    uint32_t leaf, subleaf;
    Register reg;
  } from;
  FeatureBit features[16];
};

constexpr FeatureWord kFeatureWords[] = {
    {{1, 0, Edx},
     {plain("cx8", 8), plain("cmov", 15), plain("mmx", 23), plain("fxsr", 24),
      plain("sse", 25), plain("sse2", 26)}},
    {{1, 0, Ecx},
     {plain("sse3", 0), plain("pclmul", 1), plain("ssse3", 9), avx("fma", 12),
      plain("cx16", 13), plain("sse4.1", 19), plain("sse4.2", 20),
      plain("movbe", 22), plain("crc32", 20), plain("popcnt", 23),
      plain("aes", 25), plain("xsave", 26), avx("avx", 28), avx("f16c", 29),
      plain("rdrnd", 30)}},
    {{7, 0, Ebx},
     {plain("fsgsbase", 0), plain("bmi", 3), avx("avx2", 5), plain("bmi2", 8),
      plain("invpcid", 10), avx512("avx512f", 16), avx512("avx512dq", 17),
      plain("rdseed", 18), plain("adx", 19), avx512("avx512ifma", 21),
      plain("clflushopt", 23), plain("clwb", 24), avx512("avx512cd", 28),
      plain("sha", 29), avx512("avx512bw", 30), avx512("avx512vl", 31)}},
    {{7, 0, Ecx},
     {avx512("avx512vbmi", 1), plain("pku", 3), avx512("avx512vbmi2", 6),
      plain("shstk", 7), plain("gfni", 8), avx("vaes", 9),
      avx("vpclmulqdq", 10), avx512("avx512vnni", 11),
      avx512("avx512bitalg", 12), avx512("avx512vpopcntdq", 14),
      plain("rdpid", 22), plain("movdiri", 27), plain("movdir64b", 28)}},
    {{7, 0, Edx},
     {avx512("avx512vp2intersect", 8), plain("serialize", 14),
      amx("amx-bf16", 22), avx512("avx512fp16", 23), amx("amx-tile", 24),
      amx("amx-int8", 25)}},
    {{7, 1, Eax}, {avx("avxvnni", 4), avx512("avx512bf16", 5)}},
    {{0xd, 1, Eax},
     {plain("xsaveopt", 0), plain("xsavec", 1), plain("xsaves", 3)}},
    {{0x80000001, 0, Ecx},
     {plain("sahf", 0), plain("lzcnt", 5), plain("sse4a", 6),
      plain("prfchw", 8), plain("mwaitx", 29)}},
    {{0x80000001, 0, Edx}, {plain("64bit", 29)}},
    {{0x80000008, 0, Ebx},
     {plain("clzero", 0), plain("rdpru", 4), plain("wbnoinvd", 9)}},
};

} // namespace

/// The register states that the operating system saves; 0 without XSAVE.
static uint64_t enabledStates() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27)))
    return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t(high) << 32) | low;
}

static bool hasFeature(const FeatureWord &word, const FeatureBit &feature) {
  uint32_t regs[4] = {0, 0, 0, 0};
  if (!__get_cpuid_count(word.from.leaf, word.from.subleaf, &regs[Eax],
                         &regs[Ebx], &regs[Ecx], &regs[Edx]))
    return false;
  return ((regs[word.from.reg] >> feature.bit) & 1) &&
         (enabledStates() & feature.state) == feature.state;
}

static bool machineHas(const std::string &name) {
  for (const FeatureWord &word : kFeatureWords)
    for (const FeatureBit &feature : word.features)
      if (feature.name && name == feature.name)
        return hasFeature(word, feature);
  return false;
}

#else

static bool machineHas(const std::string &) { return true; }

#endif

std::vector<std::string>
weft::missingCpuFeatures(const std::vector<std::string> &wanted) {
  std::vector<std::string> missing;
  for (const std::string &name : wanted)
    if (!machineHas(name))
      missing.push_back(name);
  return missing;
}
