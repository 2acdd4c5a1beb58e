//===- InspectMemory.cpp - The memory report of a program -----------------===//

#include "InspectViews.h"

#include "weft/Memory/MemoryReport.h"

using namespace weft;

/// A line with the flags for memory that the program was compiled with.
static std::string flagsText(const Json &memory) {
  const Json *flags = memory.find("flags");
  if (!flags || !flags->isObject() || flags->asObject().empty())
    return "";
  std::string text = "compiled with";
  for (const JsonMember &flag : flags->asObject())
    text += " --" + flag.name + "=" + viewText(&flag.value);
  return text + "\n";
}

std::string weft::memoryText(const Json &metadata) {
  const Json *memory = metadata.find("memory");
  if (!memory || !memory->isObject())
    return "";
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(memory->compact());
  if (!value) {
    llvm::consumeError(value.takeError());
    return "";
  }
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return "";
  return MemoryReport::fromJson(*object).toText() + flagsText(*memory);
}
