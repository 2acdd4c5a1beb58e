//===- CpuFeatures.cpp - Does this machine have a feature -----------------===//

#include "weft/Runtime/CpuFeatures.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace weft;

#if defined(__x86_64__)

namespace {

/// Where CPUID reports a feature: register 0..3 = eax, ebx, ecx, edx.
struct FeatureBit {
  const char *name;
  uint32_t leaf;
  uint32_t subleaf;
  int reg;
  int bit;
  uint64_t xcr0; // register state that the operating system must save
};

constexpr uint64_t kAvxState = 0x6;
constexpr uint64_t kAvx512State = 0xe6;

const FeatureBit kFeatures[] = {
    {"cx8", 1, 0, 3, 8, 0},
    {"cmov", 1, 0, 3, 15, 0},
    {"mmx", 1, 0, 3, 23, 0},
    {"fxsr", 1, 0, 3, 24, 0},
    {"sse", 1, 0, 3, 25, 0},
    {"sse2", 1, 0, 3, 26, 0},
    {"sse3", 1, 0, 2, 0, 0},
    {"pclmul", 1, 0, 2, 1, 0},
    {"ssse3", 1, 0, 2, 9, 0},
    {"fma", 1, 0, 2, 12, kAvxState},
    {"cx16", 1, 0, 2, 13, 0},
    {"sse4.1", 1, 0, 2, 19, 0},
    {"sse4.2", 1, 0, 2, 20, 0},
    {"movbe", 1, 0, 2, 22, 0},
    {"crc32", 1, 0, 2, 20, 0},
    {"popcnt", 1, 0, 2, 23, 0},
    {"aes", 1, 0, 2, 25, 0},
    {"xsave", 1, 0, 2, 26, 0},
    {"avx", 1, 0, 2, 28, kAvxState},
    {"f16c", 1, 0, 2, 29, kAvxState},
    {"rdrnd", 1, 0, 2, 30, 0},
    {"fsgsbase", 7, 0, 1, 0, 0},
    {"bmi", 7, 0, 1, 3, 0},
    {"avx2", 7, 0, 1, 5, kAvxState},
    {"bmi2", 7, 0, 1, 8, 0},
    {"invpcid", 7, 0, 1, 10, 0},
    {"avx512f", 7, 0, 1, 16, kAvx512State},
    {"avx512dq", 7, 0, 1, 17, kAvx512State},
    {"rdseed", 7, 0, 1, 18, 0},
    {"adx", 7, 0, 1, 19, 0},
    {"avx512ifma", 7, 0, 1, 21, kAvx512State},
    {"clflushopt", 7, 0, 1, 23, 0},
    {"clwb", 7, 0, 1, 24, 0},
    {"avx512cd", 7, 0, 1, 28, kAvx512State},
    {"sha", 7, 0, 1, 29, 0},
    {"avx512bw", 7, 0, 1, 30, kAvx512State},
    {"avx512vl", 7, 0, 1, 31, kAvx512State},
    {"avx512vbmi", 7, 0, 2, 1, kAvx512State},
    {"pku", 7, 0, 2, 3, 0},
    {"avx512vbmi2", 7, 0, 2, 6, kAvx512State},
    {"shstk", 7, 0, 2, 7, 0},
    {"gfni", 7, 0, 2, 8, 0},
    {"vaes", 7, 0, 2, 9, kAvxState},
    {"vpclmulqdq", 7, 0, 2, 10, kAvxState},
    {"avx512vnni", 7, 0, 2, 11, kAvx512State},
    {"avx512bitalg", 7, 0, 2, 12, kAvx512State},
    {"avx512vpopcntdq", 7, 0, 2, 14, kAvx512State},
    {"rdpid", 7, 0, 2, 22, 0},
    {"movdiri", 7, 0, 2, 27, 0},
    {"movdir64b", 7, 0, 2, 28, 0},
    {"avx512vp2intersect", 7, 0, 3, 8, kAvx512State},
    {"serialize", 7, 0, 3, 14, 0},
    {"amx-bf16", 7, 0, 3, 22, 0},
    {"avx512fp16", 7, 0, 3, 23, kAvx512State},
    {"amx-tile", 7, 0, 3, 24, 0},
    {"amx-int8", 7, 0, 3, 25, 0},
    {"avxvnni", 7, 1, 0, 4, kAvxState},
    {"avx512bf16", 7, 1, 0, 5, kAvx512State},
    {"xsaveopt", 0xd, 1, 0, 0, 0},
    {"xsavec", 0xd, 1, 0, 1, 0},
    {"xsaves", 0xd, 1, 0, 3, 0},
    {"sahf", 0x80000001, 0, 2, 0, 0},
    {"lzcnt", 0x80000001, 0, 2, 5, 0},
    {"sse4a", 0x80000001, 0, 2, 6, 0},
    {"prfchw", 0x80000001, 0, 2, 8, 0},
    {"mwaitx", 0x80000001, 0, 2, 29, 0},
    {"64bit", 0x80000001, 0, 3, 29, 0},
    {"clzero", 0x80000008, 0, 1, 0, 0},
    {"rdpru", 0x80000008, 0, 1, 4, 0},
    {"wbnoinvd", 0x80000008, 0, 1, 9, 0},
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

static bool hasFeature(const FeatureBit &feature, uint64_t states) {
  if ((states & feature.xcr0) != feature.xcr0)
    return false;
  uint32_t regs[4] = {0, 0, 0, 0};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &regs[0], &regs[1],
                         &regs[2], &regs[3]))
    return false;
  return (regs[feature.reg] >> feature.bit) & 1;
}

static bool machineHas(const std::string &name) {
  for (const FeatureBit &feature : kFeatures)
    if (name == feature.name)
      return hasFeature(feature, enabledStates());
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
