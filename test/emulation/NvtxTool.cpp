//===- NvtxTool.cpp - A profiler that records ranges ----------------------===//
//
// A library for NVTX_INJECTION64_PATH: each range is a line of the file
// WEFT_EMULATION_RECORD, between the calls that are made in it. A range of the
// name "poison ARENA in PROGRAM after POSITION: BEGIN+BYTES BEGIN+BYTES"
// poisons these bytes of the allocation of ARENA bytes where it ends.
//
//===----------------------------------------------------------------------===//

#include "Fail.h"
#include "LibraryWork.h"
#include "Settings.h"

#include <nvtx3/nvToolsExt.h>

#include <sstream>
#include <vector>

using namespace weft;

namespace {
struct Domain {
  std::string name;
  std::vector<std::string> ranges; // that are open
};
} // namespace

static nvtxDomainHandle_t createDomain(const char *name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Domain{name, {}});
}

static void destroyDomain(nvtxDomainHandle_t domain) {
  delete reinterpret_cast<Domain *>(domain);
}

/// If the name of a range says that bytes mean nothing behind it.
static void poison(const std::string &name) {
  std::istringstream text(name);
  std::string word, in, program, after, position;
  size_t arena, begin, bytes;
  char plus;
  if (!(text >> word >> arena >> in >> program >> after >> position) ||
      word != "poison" || in != "in" || after != "after")
    return;
  while (text >> begin >> plus >> bytes)
    if (plus != '+' || !emulation::poison(arena, begin, bytes))
      emulation::fail("cannot poison what a range names: " + name);
}

static int push(nvtxDomainHandle_t domain,
                const nvtxEventAttributes_t *attributes) {
  const bool isText = attributes->version == NVTX_VERSION &&
                      attributes->messageType == NVTX_MESSAGE_TYPE_ASCII;
  auto *open = reinterpret_cast<Domain *>(domain);
  open->ranges.push_back(isText ? attributes->message.ascii : "?");
  emulation::record("push " + open->name + " " + open->ranges.back());
  return 0;
}

static int pop(nvtxDomainHandle_t domain) {
  auto *open = reinterpret_cast<Domain *>(domain);
  emulation::record("pop " + open->name);
  if (open->ranges.empty())
    return 0;
  poison(open->ranges.back());
  open->ranges.pop_back();
  return 0;
}

extern "C" [[gnu::visibility("default")]] int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getTable) {
  const auto *callbacks = static_cast<const NvtxExportTableCallbacks *>(
      getTable(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
    return 0;
  auto set = [&](NvtxCallbackIdCore2 id, auto *function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(NVTX_CBID_CORE2_DomainCreateA, createDomain);
  set(NVTX_CBID_CORE2_DomainDestroy, destroyDomain);
  set(NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
