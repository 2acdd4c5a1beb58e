//===- MemoryLines.cpp - Lines about a program within a limit -------------===//

#include "MemoryLines.h"

#include "weft/Base/Text.h"
#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Targets/Target.h"

using namespace weft;

std::string weft::listTerms(const MemoryReport &report) {
  if (report.getNeededBytes() == report.arenaBytes)
    return "";
  std::string text = ": arena " + humanBytes(report.arenaBytes);
  if (report.constantBytes != 0)
    text += ", constants " + humanBytes(report.constantBytes);
  if (!report.reserved.empty())
    text += ", reserved " + humanBytes(report.getReservedBytes());
  return text;
}

std::string weft::fitLines(const Compiler &compiler, const FlagValues &given) {
  if (!compiler.fit())
    return "";
  const auto &[bound, report] = *compiler.fit();
  std::string text = "memory    " + humanBytes(report.getNeededBytes()) +
                     ", fits " + bound.flag + " with " +
                     humanBytes(bound.bytes) + listTerms(report) + "\n";
  if (const std::string flags = listChosen(given, compiler.flags());
      !flags.empty())
    text += "chosen    " + flags + "\n";
  return text;
}
