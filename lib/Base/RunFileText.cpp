//===- RunFileText.cpp - Flags as a file in TOML --------------------------===//

#include "weft/Base/FlagNames.h"
#include "weft/Base/RunFile.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace weft;

/// A basic string; nothing for text that is not UTF-8.
static std::optional<std::string> tomlString(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const size_t length = utf8Length(text);
    if (length == 0)
      return std::nullopt;
    const auto byte = static_cast<unsigned char>(text[0]);
    if (byte < 0x20 || byte == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", byte);
      result += escape;
    } else {
      if (byte == '"' || byte == '\\')
        result += '\\';
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result + "\"";
}

static std::string_view takeDigits(std::string_view &text) {
  const size_t end =
      std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

/// Whether TOML spells a number so: the command line also takes ".5" and "07".
static bool isTomlNumber(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+'))
    text.remove_prefix(1);
  if (text == "inf")
    return true;
  const std::string_view whole = takeDigits(text);
  if (whole.empty() || (whole.size() > 1 && whole[0] == '0'))
    return false;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    if (takeDigits(text).empty())
      return false;
  }
  if (!text.empty() && (text[0] == 'e' || text[0] == 'E')) {
    text.remove_prefix(1);
    if (!text.empty() && (text[0] == '-' || text[0] == '+'))
      text.remove_prefix(1);
    if (takeDigits(text).empty())
      return false;
  }
  return text.empty();
}

static std::optional<std::string> listValue(const std::string &text) {
  std::string all;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) {
      const auto part =
          tomlString(std::string_view(text).substr(begin, end - begin));
      if (!part)
        return std::nullopt;
      all += (all.empty() ? "" : ", ") + *part;
    }
    begin = end + 1;
  }
  return "[" + all + "]";
}

/// The value in TOML; nothing for text that is not UTF-8.
static std::optional<std::string> valueOf(const FlagSpec &spec,
                                          const std::string &text) {
  switch (spec.kind) {
  case FlagKind::Switch:
    return std::string(text == "on" ? "true" : "false");
  case FlagKind::Int:
    if (!text.empty())
      return std::to_string(std::strtoll(text.c_str(), nullptr, 10));
    break;
  case FlagKind::Double:
    if (!text.empty())
      return isTomlNumber(text)
                 ? text
                 : numberText(std::strtod(text.c_str(), nullptr), 17);
    break;
  case FlagKind::List:
    return listValue(text);
  default:
    break;
  }
  return tomlString(text);
}

/// "# lr = 0.001  # default": a comment, unless the value was given.
static Expected<std::string> lineOf(const FlagValues &flags,
                                    const FlagSpec &spec) {
  const std::string name = spec.name;
  const bool isGiven = flags.isSet(name);
  const std::optional<std::string> value = valueOf(spec, flags.getText(name));
  if (!value)
    return usageError("flag '--" + name +
                      "' expects a text in UTF-8 with "
                      "--print-config, but got " +
                      inQuotes(flags.getText(name)));
  const bool hasValue = spec.kind == FlagKind::Switch || flags.hasValue(name);
  const std::string origin =
      isGiven || hasValue ? escaped(flags.originText(name)) : "not set";
  return (isGiven ? "" : "# ") + name + " = " + *value + "  # " + origin + "\n";
}

Expected<std::string> weft::formatRunFile(const FlagValues &flags,
                                          const std::string &program) {
  std::string text =
      "# flags of " + escaped(program) + "; --config FILE reads them\n";
  auto addLines = [&](FlagTopic topic) -> Expected<std::string> {
    std::string lines;
    for (const FlagSpec &spec : flags.specs()) {
      if (spec.topic != topic || isOnlyOnCommandLine(spec.name))
        continue;
      Expected<std::string> line = lineOf(flags, spec);
      if (!line)
        return line;
      lines += *line;
    }
    return lines;
  };
  Expected<std::string> plain = addLines(FlagTopic::None);
  if (!plain)
    return plain;
  text += *plain;
  for (const auto &[topic, title] : flagTopics()) {
    FlagSpec probe = {};
    probe.topic = topic;
    Expected<std::string> lines = addLines(topic);
    if (!lines)
      return lines;
    if (!lines->empty())
      text += "\n[" + fileTableOf(probe) + "]\n" + *lines;
  }
  if (!flags.unusedOfFile().empty())
    text += "\n# flags of the file without a use here:\n";
  for (const RunFileValue &value : flags.unusedOfFile())
    text += "# " + value.name + ": " + escaped(value.text) + "  # " +
            escaped(value.place) + "\n";
  return text;
}

Expected<bool> weft::printConfig(const FlagValues &flags,
                                 const std::string &program) {
  if (!flags.getSwitch("print-config"))
    return false;
  Expected<std::string> text = formatRunFile(flags, program);
  if (!text)
    return text.takeError();
  const std::vector<FlagSpec> specs = flags.specs();
  for (const FlagSpec &spec : specs)
    if (spec.name == std::string_view("resume") &&
        flags.getText("resume") != "never")
      printText(
          "# the checkpoint of --resume=" + escaped(flags.getText("resume")) +
          " replaces defaults: ./PROGRAM --print-config shows them\n");
  printText(*text);
  return true;
}

std::vector<std::string>
weft::argumentsWithFile(const std::vector<std::string> &args) {
  static const std::string flag = "--config";
  std::string path;
  for (size_t i = 0; i < args.size() && args[i] != "--"; ++i)
    if (args[i] == flag && i + 1 < args.size())
      path = args[i + 1];
    else if (args[i].rfind(flag + "=", 0) == 0)
      path = args[i].substr(flag.size() + 1);
  if (path.empty())
    return args;
  FlagParseOptions options;
  options.groups = RunFlag;
  auto values = readRunFile(path, FlagTable(runFlagSpecs()), options);
  std::vector<std::string> all = args;
  if (values)
    for (const RunFileValue &value : *values)
      all.push_back("--" + value.name + "=" + value.text);
  return all;
}
