//===- CudaRanges.cpp - Ranges for a profiler -----------------------------===//

#include "weft/Runtime/Devices/CudaRanges.h"

#include <algorithm>

#ifdef WEFT_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

using namespace weft;

//===----------------------------------------------------------------------===//
// NVTX
//===----------------------------------------------------------------------===//

#ifdef WEFT_NVTX

CudaRanges::CudaRanges() : domain(nvtxDomainCreateA("weft")) {}

CudaRanges::~CudaRanges() {
  if (domain)
    nvtxDomainDestroy(static_cast<nvtxDomainHandle_t>(domain));
}

void CudaRanges::push(const std::string &text) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text.c_str();
  (void)nvtxDomainRangePushEx(static_cast<nvtxDomainHandle_t>(domain), &event);
}

void CudaRanges::pop() {
  (void)nvtxDomainRangePop(static_cast<nvtxDomainHandle_t>(domain));
}

#else

CudaRanges::CudaRanges() = default;
CudaRanges::~CudaRanges() = default;
void CudaRanges::push(const std::string &) {}
void CudaRanges::pop() {}

#endif

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Whether a scope is `outer` or one within it.
static bool isWithin(const std::string &scope, const std::string &outer) {
  return scope.compare(0, outer.size(), outer) == 0 &&
         (scope.size() == outer.size() || scope[outer.size()] == '.');
}

void CudaRanges::enter(const char *program) {
  if (domain)
    push(program);
}

void CudaRanges::moveTo(const char *scope) {
  if (!domain)
    return;
  const std::string wanted = scope ? scope : "";
  while (!scopes.empty() && !isWithin(wanted, scopes.back())) {
    pop();
    scopes.pop_back();
  }
  size_t end = scopes.empty() ? 0 : scopes.back().size();
  while (end < wanted.size()) {
    end = std::min(wanted.find('.', end + 1), wanted.size());
    scopes.push_back(wanted.substr(0, end));
    push(scopes.back());
  }
}

void CudaRanges::leave() {
  if (!domain)
    return;
  moveTo(nullptr);
  pop();
}
