//===- Target.cpp - The kinds of targets ----------------------------------===//

#include "weft/Pipeline/Target.h"

#include "weft/Pipeline/InitAll.h"
#include "weft/Weft/Weft.h"

using namespace mlir;
using namespace weft;

/// Words that the documentation names and that nothing answers for yet.
static constexpr llvm::StringLiteral kAnnounced[] = {"cuda"};

static std::vector<TargetKind> &registry() {
  static std::vector<TargetKind> kinds = builtinTargets();
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
  if (llvm::is_contained(kAnnounced, word))
    return usageError("does not support --target=" + text.str() + " yet")
        .hint("use --target=" + targetKinds().front().name.str());
  return usageError("expects the target " + spellChoices(spellings) +
                    ", but got " + text.str());
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
