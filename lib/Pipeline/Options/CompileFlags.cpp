//===- CompileFlags.cpp - The compile flags of the driver -----------------===//

#include "weft/Pipeline/Options/CompileFlags.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace weft;

static constexpr llvm::StringLiteral kOptionsAttr = "weft.options";

llvm::ArrayRef<const char *> weft::flagsOfImport() {
  static const char *const flags[] = {"batch", "seq", "ignore-field"};
  return flags;
}

FlagTable weft::compilerFlagTable() {
  FlagTable table(compileFlags());
  table.add(driverFlags());
  return table;
}

//===----------------------------------------------------------------------===//
// Options in the module
//===----------------------------------------------------------------------===//

void weft::storeOptions(mlir::ModuleOp module, const FlagValues &flags) {
  mlir::Builder builder(module.getContext());
  llvm::SmallVector<mlir::NamedAttribute> options;
  for (const FlagSpec &spec : compileFlags())
    if (flags.isSet(spec.name))
      options.push_back(builder.getNamedAttr(
          spec.name, builder.getStringAttr(flags.getText(spec.name))));
  module->setAttr(kOptionsAttr, builder.getDictionaryAttr(options));
}

Expected<std::vector<std::string>> weft::loadOptions(mlir::ModuleOp module) {
  auto options = module->getAttrOfType<mlir::DictionaryAttr>(kOptionsAttr);
  if (!options)
    return inputError("expects a dump with a weft.options attribute");
  std::vector<std::string> args;
  for (mlir::NamedAttribute option : options) {
    auto text = llvm::dyn_cast<mlir::StringAttr>(option.getValue());
    if (!text)
      return inputError("expects text as value of the option " +
                        option.getName().str());
    args.push_back("--" + option.getName().str() + "=" + text.str());
  }
  return args;
}

Expected<FlagValues> weft::optionsOf(mlir::ModuleOp module) {
  std::vector<std::string> args;
  if (module->hasAttr(kOptionsAttr)) {
    Expected<std::vector<std::string>> stored = loadOptions(module);
    if (!stored)
      return stored.takeError();
    args = std::move(*stored);
  }
  return compilerFlagTable().parse(args);
}
