//===- NvtxTool.cpp - A profiler that records ranges ----------------------===//
//
// A library for NVTX_INJECTION64_PATH: each range is a line of the file
// WEFT_EMULATION_RECORD, between the calls that are made in it.
//
//===----------------------------------------------------------------------===//

#include "Settings.h"

#include <nvtx3/nvToolsExt.h>

using namespace weft;

namespace {
struct Domain {
  std::string name;
};
} // namespace

static nvtxDomainHandle_t createDomain(const char *name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Domain{name});
}

static void destroyDomain(nvtxDomainHandle_t domain) {
  delete reinterpret_cast<Domain *>(domain);
}

static int push(nvtxDomainHandle_t domain,
                const nvtxEventAttributes_t *attributes) {
  const bool isText = attributes->version == NVTX_VERSION &&
                      attributes->messageType == NVTX_MESSAGE_TYPE_ASCII;
  emulation::record("push " + reinterpret_cast<Domain *>(domain)->name + " " +
                    (isText ? attributes->message.ascii : "?"));
  return 0;
}

static int pop(nvtxDomainHandle_t domain) {
  emulation::record("pop " + reinterpret_cast<Domain *>(domain)->name);
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
