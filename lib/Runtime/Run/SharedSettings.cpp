//===- SharedSettings.cpp - Settings equal on all processes ---------------===//

#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Runtime/Execute/CpuLevel.h"
#include "weft/Runtime/Run/Run.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

using namespace weft;

/// A setting is a line: its code, name and value with tabs between them, which
/// neither name nor value has.
std::string
weft::formatSharedSettings(const std::vector<SharedSetting> &settings) {
  std::string text;
  for (const SharedSetting &setting : settings)
    text += std::to_string(int(setting.code)) + "\t" + escaped(setting.name) +
            "\t" + escaped(setting.value) + "\n";
  return text;
}

static std::vector<SharedSetting> parseSharedSettings(const std::string &text) {
  std::vector<SharedSetting> settings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line);
    std::string code;
    SharedSetting &setting = settings.emplace_back();
    std::getline(parts, code, '\t');
    std::getline(parts, setting.name, '\t');
    std::getline(parts, setting.value);
    setting.code = ExitCode(std::atoi(code.c_str()));
  }
  return settings;
}

static const SharedSetting *
findShared(const std::vector<SharedSetting> &settings,
           const std::string &name) {
  for (const SharedSetting &setting : settings)
    if (setting.name == name)
      return &setting;
  return nullptr;
}

static std::string valueOf(const SharedSetting *setting) {
  return setting ? setting->value : "none";
}

static Error differenceIn(const SharedSetting &setting,
                          const std::vector<SharedSetting> &first,
                          const std::vector<SharedSetting> &other,
                          size_t rank) {
  return Error(setting.code, "expects " + setting.name +
                                 " to be equal in all processes, but got " +
                                 valueOf(findShared(first, setting.name)) +
                                 " in rank 0 and " +
                                 valueOf(findShared(other, setting.name)) +
                                 " in rank " + std::to_string(rank));
}

Status weft::compareSharedSettings(const std::vector<std::string> &texts) {
  const std::vector<SharedSetting> first = parseSharedSettings(texts.front());
  for (size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts.front())
      continue;
    const std::vector<SharedSetting> other = parseSharedSettings(texts[rank]);
    for (const std::vector<SharedSetting> *settings : {&first, &other})
      for (const SharedSetting &setting : *settings)
        if (valueOf(findShared(first, setting.name)) !=
            valueOf(findShared(other, setting.name)))
          return differenceIn(setting, first, other, rank);
  }
  return Status::success();
}

std::string weft::programDigest(const WeftExecutable &executable) {
  Digest digest;
  auto add = [&](const auto &value) {
    digest.update(
        std::string_view(reinterpret_cast<const char *>(&value), sizeof value));
  };
  digest.update(
      std::string_view(executable.metadata, size_t(executable.metadataBytes)));
  add(executable.arenaBytes);
  for (const WeftProgram &program : programsOf(executable)) {
    digest.update(program.symbol);
    for (const WeftCommand &command : commandsOf(program)) {
      digest.update(command.name);
      for (int32_t b = 0; b < command.numBuffers; ++b)
        add(command.offsets[b]);
      digest.update(std::string_view(static_cast<const char *>(command.record),
                                     size_t(command.recordBytes)));
    }
  }
  return digest.value128();
}

//===- Settings of a run --------------------------------------------------===//

/// A difference that would lead processes apart is an error of all.
Status Run::settleSharedSettings(Status own,
                                 const std::vector<SharedSetting> &mine) {
  auto all = ranks.reach(std::move(own), formatSharedSettings(mine));
  if (!all)
    return all.takeError();
  Status equal = compareSharedSettings(*all);
  if (equal)
    return equal;
  return equal.takeError().saidBy(isFirst()).ofAllProcesses();
}

/// The program and the flags.
Status Run::checkStart(Status ready) {
  std::vector<SharedSetting> mine = {
      {"the program", programDigest(executable)}};
  for (const std::string &flag : options.common) {
    const size_t end = flag.find('=');
    mine.push_back({flag.substr(0, end),
                    end == std::string::npos ? "on" : flag.substr(end + 1)});
  }
  if (Status s = settleSharedSettings(std::move(ready), mine); !s)
    return s;
  return isForCuda(metadata) ? Status::success() : chooseCommonLevel();
}

/// Processors may differ, the roundings of ranks may not.
Status Run::chooseCommonLevel() {
  const std::string own = cpuLevel();
  auto all = ranks.reach(Status::success(), own);
  if (!all)
    return all.takeError();
  const size_t least = findLeastLevel(*all);
  const std::string &level = (*all)[least];
  if (std::all_of(all->begin(), all->end(),
                  [&](const std::string &other) { return other == level; }))
    return Status::success();
  capCpuLevel(level);
  if (isFirst())
    warn(concat("processors of ranks differ: all ranks have the instruction "
                "set of rank ",
                least, ", ", level));
  return Status::success();
}

/// The first rank of this process that cannot use the library, and why; "" if
/// all can. A rank of several is named.
static std::string findRefusal(Ranks &ranks) {
  std::string found;
  // Nothing in it fails.
  (void)ranks.inTurn([&](RankPart &rank) {
    const std::string why = rank.libraryRefusal();
    const WeftContext &context = rank.context();
    if (!why.empty() && found.empty())
      found = context.ranks() == 1 ? why
                                   : concat("rank ", context.rank(), ": ", why);
    return Status::success();
  });
  return found;
}

/// All ranks use an optional library, or none: its last bits are others.
Status Run::chooseCommonLibrary() {
  const std::string library = ranks.first().optionalLibrary();
  if (library.empty())
    return Status::success();
  auto all = ranks.reach(Status::success(), findRefusal(ranks));
  if (!all)
    return all.takeError();
  const auto refusal =
      std::find_if(all->begin(), all->end(),
                   [](const std::string &text) { return !text.empty(); });
  if (refusal == all->end())
    return Status::success();
  if (isFirst())
    warn("kernels of the program take the place of " + library + ": " +
         *refusal);
  return ranks.inTurn([&](RankPart &rank) {
    rank.forgoLibrary(*refusal);
    return Status::success();
  });
}

/// The kind of device and library of each rank, for which measured algorithms
/// are valid.
Expected<std::vector<std::string>> Run::describeTunings() {
  std::vector<std::string> own;
  // Nothing in it fails.
  (void)ranks.inTurn([&](RankPart &rank) {
    own.push_back(rank.describeTuning());
    return Status::success();
  });
  if (!inputs.process)
    return own;
  return ranks.reach(Status::success(), own.front());
}

/// The algorithms of --tuning=auto. Rank 0 finds them for all ranks, so that
/// replicas have equal bits. Each one would measure others, and other kinds of
/// devices have other algorithms.
Status Run::chooseCommonAlgorithms() {
  if (options.tuning != "auto" || options.dryRun)
    return Status::success();
  auto kinds = describeTunings();
  if (!kinds)
    return kinds.takeError();
  const auto other =
      std::find_if(kinds->begin(), kinds->end(), [&](const std::string &kind) {
        return kind != kinds->front();
      });
  if (other != kinds->end()) {
    if (isFirst())
      warn(concat("--tuning=auto has no effect: expects one kind of device and "
                  "one cuBLASLt, but got ",
                  kinds->front(), " in rank 0 and ", *other, " in rank ",
                  other - kinds->begin()));
    return Status::success();
  }
  std::string found;
  Status measured = ranks.inTurn([&](RankPart &rank) {
    return rank.context().rank() == 0 ? assign(rank.findAlgorithms(), found)
                                      : Status::success();
  });
  auto texts = ranks.reach(std::move(measured), found);
  if (!texts)
    return texts.takeError();
  return ranks.settle(ranks.inTurn(
      [&](RankPart &rank) { return rank.useAlgorithms(texts->front()); }));
}

static std::string identityText(const std::optional<DataIdentity> &identity) {
  if (!identity)
    return "none";
  return identity->kind + " with " + std::to_string(identity->length) + " " +
         identity->xxh3;
}

/// Data, checkpoint and seed.
Status Run::checkFound() {
  return settleSharedSettings(
      Status::success(),
      {{"the data", identityText(record.data), ExitCode::Input},
       {"the validation data", identityText(record.valData), ExitCode::Input},
       {"the step to resume from", std::to_string(state.step),
        ExitCode::Checkpoint},
       {"the seed", std::to_string(state.seed), ExitCode::Checkpoint}});
}
