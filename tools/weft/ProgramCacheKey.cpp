//===- ProgramCacheKey.cpp - Names of cached programs ---------------------===//

#include "ProgramCacheKey.h"

#include "CompileFiles.h"

#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/Gguf.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Frontend/Frontend.h"
#include "weft/Pipeline/Driver/Link.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sys/stat.h>

using namespace weft;
namespace fs = std::filesystem;

/// Metadata and descriptions of tensors, in front of the weights. The times of
/// any change represent the weights: the program checks their digest when it
/// reads them, so it never runs with others than it was compiled for.
static Status addGguf(Digest &digest, const std::string &path) {
  Expected<GgufFile> file = GgufFile::open(path);
  if (!file)
    return file.takeError();
  int64_t head = file->bytes().size();
  for (const GgufTensor &tensor : file->tensors())
    head = std::min(head, tensor.begin);
  std::vector<char> part(size_t(1) << 18);
  for (int64_t at = 0; at < head; at += int64_t(part.size())) {
    const int64_t count = std::min(head - at, int64_t(part.size()));
    if (Status s = file->bytes().read(at, count, part.data()); !s)
      return s;
    digest.update(part.data(), count);
  }
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return inputError("cannot read the times of the file: " + errnoText(errno))
        .at(path);
  for (int64_t number : {int64_t(info.st_size), int64_t(info.st_ino),
                         int64_t(info.st_mtim.tv_sec), info.st_mtim.tv_nsec,
                         int64_t(info.st_ctim.tv_sec), info.st_ctim.tv_nsec})
    digest.update(std::to_string(number) + "\n");
  return Status::success();
}

static Status addText(Digest &digest, const std::string &path) {
  Expected<FileDigest> text = digestFile(path);
  if (!text)
    return text.takeError();
  digest.update(text->xxh3 + "\n");
  return Status::success();
}

/// The files that define a model. Weights may be large, so their size and
/// modification time represent them here; the program checks their digest.
static Status addModel(Digest &digest, const std::string &model) {
  std::vector<std::string> files = modelFiles(model);
  const std::string &first = files.front();
  if (Status s = guessFileKind(first).isGguf ? addGguf(digest, first)
                                             : addText(digest, first);
      !s)
    return s;
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
    "target",    "precision",     "numerics", "optimizer",    "clip-norm",
    "zero",      "accumulation",  "kv-cache", "dropout-bits", "recompute",
    "attention", "deterministic", "debug-nan"};

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
