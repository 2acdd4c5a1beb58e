//===- Alike.cpp - What all processes of a run must have alike ------------===//

#include "weft/Runtime/Run/Alike.h"

#include "weft/Formats/Digest.h"
#include "weft/Formats/Text.h"

#include <cstdlib>
#include <sstream>

using namespace weft;

/// A thing is a line: its code, name and value with tabs between them, which
/// neither name nor value has.
std::string weft::alikeText(const std::vector<Alike> &things) {
  std::string text;
  for (const Alike &thing : things)
    text += std::to_string(int(thing.code)) + "\t" + escaped(thing.name) +
            "\t" + escaped(thing.value) + "\n";
  return text;
}

static std::vector<Alike> readAlike(const std::string &text) {
  std::vector<Alike> things;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line);
    std::string code;
    Alike &thing = things.emplace_back();
    std::getline(parts, code, '\t');
    std::getline(parts, thing.name, '\t');
    std::getline(parts, thing.value);
    thing.code = ExitCode(std::atoi(code.c_str()));
  }
  return things;
}

static const Alike *findThing(const std::vector<Alike> &things,
                              const std::string &name) {
  for (const Alike &thing : things)
    if (thing.name == name)
      return &thing;
  return nullptr;
}

static std::string valueOf(const Alike *thing) {
  return thing ? thing->value : "none";
}

static Error differenceIn(const Alike &thing, const std::vector<Alike> &first,
                          const std::vector<Alike> &other, size_t rank) {
  return Error(thing.code, "expects " + thing.name +
                               " to be alike in all processes, but got " +
                               valueOf(findThing(first, thing.name)) +
                               " in rank 0 and " +
                               valueOf(findThing(other, thing.name)) +
                               " in rank " + std::to_string(rank));
}

Status weft::checkAlike(const std::vector<std::string> &texts) {
  const std::vector<Alike> first = readAlike(texts.front());
  for (size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts.front())
      continue;
    const std::vector<Alike> other = readAlike(texts[rank]);
    for (const std::vector<Alike> *things : {&first, &other})
      for (const Alike &thing : *things)
        if (valueOf(findThing(first, thing.name)) !=
            valueOf(findThing(other, thing.name)))
          return differenceIn(thing, first, other, rank);
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
  for (int32_t p = 0; p < executable.numPrograms; ++p) {
    const WeftProgram &program = executable.programs[p];
    digest.update(program.symbol);
    for (int32_t i = 0; i < program.numCommands; ++i) {
      const WeftCommand &command = program.commands[i];
      digest.update(command.name);
      for (int32_t b = 0; b < command.numBuffers; ++b)
        add(command.offsets[b]);
      digest.update(std::string_view(static_cast<const char *>(command.record),
                                     size_t(command.recordBytes)));
    }
  }
  return digest.value128();
}
