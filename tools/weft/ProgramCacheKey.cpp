//===- ProgramCacheKey.cpp - Names of cached programs ---------------------===//

#include "ProgramCacheKey.h"

#include "CompileFiles.h"

#include "weft/Formats/Digest.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Frontend/Frontend.h"
#include "weft/Pipeline/Driver/Link.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"

#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

/// The files that define a model. Weights may be large, so their size and
/// modification time represent them here; the program checks their digest.
static Status addModel(Digest &digest, const std::string &model) {
  std::vector<std::string> files = modelFiles(model);
  Expected<FileDigest> text = digestFile(files.front());
  if (!text)
    return text.takeError();
  digest.update(text->xxh3 + "\n");
  for (size_t i = 1; i < files.size(); ++i) {
    std::error_code error;
    auto changed = fs::last_write_time(files[i], error).time_since_epoch();
    digest.update(files[i] + "\n" +
                  std::to_string(fs::file_size(files[i], error)) + "\n" +
                  std::to_string(changed.count()) + "\n");
  }
  return Status::success();
}

/// Flags that make the same program whether their default value is given or
/// not (test/Pipeline/given-defaults.test). Some others do not: a program
/// records them, or they are errors without another flag.
static constexpr const char *kPlainFlags[] = {
    "target",    "precision",    "numerics", "optimizer",
    "clip-norm", "accumulation", "zero",     "kv-cache",
    "recompute", "attention",    "debug-nan"};

/// The compile flags that decide the program, as `--name=value`. A flag of
/// kPlainFlags with its default value does not, unless --memory-limit or
/// --device chooses the values that are not given.
static std::vector<std::string> decidingFlags(const FlagValues &flags) {
  FlagValues deciding = flags.without("explain");
  const FlagTable defaults(flags.specs());
  const bool chooses = flags.isSet("memory-limit") || flags.isSet("device");
  for (const char *name : kPlainFlags) {
    const FlagSpec &spec = *defaults.find(name);
    const bool isOff = spec.kind == FlagKind::Switch && !*spec.defaultText;
    if (!chooses && flags.getText(name) == (isOff ? "off" : spec.defaultText))
      deciding = deciding.without(name);
  }
  return deciding.canonical(CompileFlag);
}

Expected<std::string> weft::programCacheKey(const FlagValues &flags,
                                            const std::string &model) {
  Digest digest;
  Expected<std::shared_ptr<const Target>> target = findTarget(flags);
  if (!target)
    return target.takeError();
  if (Status status = (*target)->checkEmit("exe", flags.getText("target"));
      !status)
    return status.takeError();
  Expected<std::string> toolchain =
      toolchainDigest(Linkage::of(**target, flags));
  if (!toolchain)
    return toolchain.takeError();
  digest.update(*toolchain + "\n");
  digest.update((*target)->getIdentity() + "\n");
  digest.update(model + "\n");
  for (const std::string &flag : decidingFlags(flags))
    digest.update(flag + "\n");
  for (const FileUse &use : flags.files(FlagFile::Read)) {
    Expected<FileDigest> file = digestFile(use.path);
    if (!file)
      return file.takeError();
    digest.update(file->xxh3 + "\n");
  }
  if (Status status = addModel(digest, model); !status)
    return status.takeError();
  return digest.value128();
}
