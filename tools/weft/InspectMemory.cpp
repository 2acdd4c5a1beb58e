//===- InspectMemory.cpp - The memory report of a program -----------------===//

#include "InspectViews.h"

#include "weft/Memory/MemoryReport.h"

using namespace weft;

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
  return object ? MemoryReport::fromJson(*object).toText() : "";
}
