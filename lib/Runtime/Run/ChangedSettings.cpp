//===- ChangedSettings.cpp - What differs from the checkpoint's run -------===//

#include "weft/Base/CountText.h"
#include "weft/Formats/Manifest.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <algorithm>
#include <filesystem>
#include <map>

using namespace weft;

/// " was A in the checkpoint, now B"
static std::string change(const std::string &was, const std::string &now) {
  return " was " + (was.empty() ? "not set" : was) +
         " in the checkpoint, now " + (now.empty() ? "not set" : now);
}

static std::string change(const std::string &flag, const std::string &was,
                          const std::string &now) {
  return "--" + flag + change(was, now);
}

/// Whether a companion file of a model decides which tokens a text has.
static bool hasVocabulary(const std::string &name) {
  constexpr std::string_view names[] = {"tokenizer.json", "tokenizer.model",
                                        "vocab.json",     "merges.txt",
                                        "vocab.txt",      "added_tokens.json"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Digests by the names of files.
using Vocabulary = std::map<std::string, std::string>;

/// Stands for the name of a GGUF file.
static constexpr const char *kGguf = "gguf";

static void addFile(Vocabulary &files, const std::string &path,
                    const std::string &digest) {
  const std::filesystem::path file = path;
  if (file.extension() == ".gguf")
    files[kGguf] = digest;
  else if (hasVocabulary(file.filename()))
    files[file.filename()] = digest;
}

/// A tokenizer.json is read in place of all other files.
static Vocabulary withoutUnread(Vocabulary files) {
  const auto whole = files.find("tokenizer.json");
  return whole == files.end() ? files : Vocabulary{*whole};
}

/// The files among the `companions` of model.json.
static Vocabulary vocabularyOf(const Json &model) {
  Vocabulary files;
  const Json *list = model.find("companions");
  if (!list || !list->isArray())
    return files;
  for (const Json &file : list->asArray()) {
    const Json *path = file.find("path"), *digest = file.find("xxh3");
    if (path && path->isString() && digest && digest->isString())
      addFile(files, path->asString(), digest->asString());
  }
  return withoutUnread(std::move(files));
}

static Vocabulary vocabularyOf(const Metadata &metadata) {
  Vocabulary files;
  for (const InitialFile &file : metadata.companionFiles)
    addFile(files, file.path, file.digest);
  return withoutUnread(std::move(files));
}

static std::string digestText(const Vocabulary &files,
                              const std::string &name) {
  const auto found = files.find(name);
  return found == files.end() ? "none" : "digest " + found->second.substr(0, 8);
}

std::string weft::changedTokenizer(const Json &model,
                                   const Metadata &metadata) {
  const Vocabulary was = vocabularyOf(model), now = vocabularyOf(metadata);
  // The vocabulary in a GGUF file has no digest of its own.
  for (const Vocabulary *files : {&was, &now})
    if (files->count(kGguf))
      return "";
  Vocabulary all = was;
  all.insert(now.begin(), now.end());
  std::string text;
  for (const auto &[name, digest] : all)
    if (const std::string a = digestText(was, name), b = digestText(now, name);
        a != b)
      text +=
          (text.empty() ? "the tokenizer, " : "; ") + name + "," + change(a, b);
  return text;
}

/// The names of both settings without duplicates.
static std::vector<std::string> namesOf(const Settings &was,
                                        const Settings &now) {
  std::vector<std::string> names;
  for (const Settings *settings : {&now, &was})
    for (const auto &[name, text] : *settings)
      if (settings == &now || !findSetting(now, name))
        names.push_back(name);
  return names;
}

static bool isOfNccl(const std::string &name) {
  return name == "nccl" || name.rfind("NCCL_", 0) == 0;
}

/// Recorded only where gradients of attention differ from run to run.
static constexpr const char *kDeterministic = "deterministic";

/// A setting of a device. One that is not recorded may have a known value.
static std::string deviceSetting(const Settings &settings,
                                 const std::string &name) {
  const std::string text = settingIn(settings, name);
  return text.empty() && name == kDeterministic ? "on" : text;
}

/// The readable name of a setting of a device.
static std::string deviceText(const std::string &name) {
  if (name == "gpu")
    return "GPU";
  if (name == "multiprocessors")
    return "number of multiprocessors";
  if (name == "driver")
    return "NVIDIA driver";
  if (name == "cublaslt")
    return "version of cuBLASLt";
  if (name == "attention")
    return "code of attention";
  if (name == "cudnn")
    return "version of cuDNN";
  if (name == kDeterministic)
    return "determinism of attention's gradients";
  if (name == "nccl")
    return "version of NCCL";
  if (name.rfind("NCCL_", 0) == 0)
    return "variable " + name;
  return name == "tuning" ? "digest of --tuning" : inQuotes(name);
}

/// "corpus.txt (text, 2760 tokens, digest 1f2e3d4c)"
static std::string describe(const RunRecord &record, const std::string &flag,
                            const std::optional<DataIdentity> &data) {
  if (!data)
    return "";
  const std::string name = settingIn(record.flags, flag + "-name");
  return (name.empty() ? settingIn(record.flags, flag) : name) + " (" +
         data->kind + ", " +
         countText(data->length,
                   data->kind == "safetensors" ? "row" : "token") +
         ", digest " + data->xxh3.substr(0, 8) + ")";
}

std::vector<std::string> weft::changedSettings(const RunRecord &was,
                                               const RunRecord &now) {
  std::vector<std::string> changes;
  auto compare = [&](const std::string &flag, const std::string &a,
                     const std::string &b) {
    if (a != b)
      changes.push_back(change(flag, a, b));
  };
  if (!(was.data == now.data))
    changes.push_back(change("data", describe(was, "data", was.data),
                             describe(now, "data", now.data)));
  if (!(was.valData == now.valData))
    changes.push_back(change("val-data", describe(was, "val-data", was.valData),
                             describe(now, "val-data", now.valData)));
  for (const KeptFlag &flag : keptFlags())
    if (flag.named)
      compare(flag.name, settingIn(was.flags, flag.name),
              settingIn(now.flags, flag.name));
  for (const std::string &name : namesOf(was.program, now.program))
    compare(name, settingIn(was.program, name), settingIn(now.program, name));
  if (was.model && now.model)
    for (const std::string &name : namesOf(*was.model, *now.model))
      if (std::string a = settingIn(*was.model, name),
          b = settingIn(*now.model, name);
          a != b)
        changes.push_back("the model's " + name + change(a, b));
  // Only runs with native reductions record NCCL. It is compared if both do.
  const bool bothAdd = !settingIn(was.device, "nccl").empty() &&
                       !settingIn(now.device, "nccl").empty();
  for (const std::string &name : namesOf(was.device, now.device)) {
    const std::string a = deviceSetting(was.device, name),
                      b = deviceSetting(now.device, name);
    if (a != b && (bothAdd || !isOfNccl(name)))
      changes.push_back("the " + deviceText(name) + change(a, b));
  }
  return changes;
}
