//===- Target.cpp - The kinds of targets ----------------------------------===//

#include "weft/Pipeline/Targets/Target.h"

#include "weft/Base/Text.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Weft/Weft.h"

using namespace mlir;
using namespace weft;

Status Target::checkEmit(StringRef emit, StringRef target) const {
  if (emit != "ptx")
    return Status::success();
  return usageError("--emit=ptx expects a target with PTX, but got " +
                    target.str())
      .hint("such as --target=cuda:sm_90");
}

FailureOr<std::string> Target::emitPtx(ModuleOp module) const {
  return module.emitError("has no PTX for its target");
}

static std::vector<TargetKind> &registry() {
  static std::vector<TargetKind> kinds = {cpuTargetKind(), cudaTargetKind()};
  return kinds;
}

void weft::registerTarget(TargetKind kind) {
  registry().push_back(std::move(kind));
}

ArrayRef<TargetKind> weft::targetKinds() { return registry(); }

Expected<const TargetKind *> weft::findTargetKind(StringRef text) {
  StringRef word = text.split(':').first;
  SmallVector<StringRef> spellings;
  for (const TargetKind &kind : targetKinds()) {
    if (kind.name == word)
      return &kind;
    llvm::append_range(spellings, kind.spellings);
  }
  return usageError("expects the target " + spellChoices(spellings) +
                    ", but got " + text.str())
      .hint("--target=cuda is the GPU of this machine, --target=cpu its "
            "processor");
}

Expected<std::shared_ptr<const Target>>
weft::findTarget(const FlagValues &flags) {
  const std::string &text = flags.getText("target");
  Expected<const TargetKind *> kind = findTargetKind(text);
  if (!kind)
    return kind.takeError();
  Expected<std::unique_ptr<Target>> target = (*kind)->parse(text);
  if (!target)
    return target.takeError();
  return std::shared_ptr<const Target>(std::move(*target));
}

std::optional<MemoryBound> weft::getMemoryBound(const FlagValues &flags,
                                                const Target &target) {
  std::optional<MemoryBound> bound = target.getMemory(flags);
  if (!flags.isSet("memory-limit"))
    return bound;
  int64_t limit = flags.getBytes("memory-limit");
  if (bound && bound->bytes <= limit)
    return bound;
  return MemoryBound{limit, "--memory-limit",
                     "--memory-limit is " + exactBytes(limit)};
}

MemoryReport weft::reportMemory(mlir::ModuleOp module, const FlagValues &flags,
                                const Target &target) {
  MemoryReport report = computeMemoryReport(module);
  report.reserved = target.getReserved(module, flags);
  return report;
}

//===----------------------------------------------------------------------===//
// Flags and the target
//===----------------------------------------------------------------------===//

std::string weft::bucketRule(const FlagValues &flags, const Target &target) {
  if (flags.isSet("bucket"))
    return flags.getText("bucket");
  return flags.isSet("mesh") ? "scope" : target.getBucketRule().str();
}

/// Without buckets there is nothing to align.
static Status checkAlign(const FlagValues &flags, const Target &target) {
  if (!flags.isSet("shard-align") || bucketRule(flags, target) != kNoBuckets)
    return Status::success();
  return usageError("--shard-align expects a --bucket other than none, but got "
                    "none");
}

Status weft::checkSupported(const FlagValues &flags) {
  if (Status status = checkOptions(flags); !status)
    return status;
  Expected<std::shared_ptr<const Target>> target = findTarget(flags);
  if (!target)
    return target.takeError();
  if (Status status = checkAlign(flags, **target); !status)
    return status;
  return (*target)->checkFlags(flags);
}
