//===- Plugin.cpp - The entry points of the plug-in -----------------------===//

#include "Ext.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

static constexpr const char *kVersion = "0.1";

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "ext", kVersion,
          [](mlir::DialectRegistry *registry) {
            registry->insert<ext::ExtDialect>();
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "ext", kVersion,
          [] { ext::registerExtPasses(); }};
}
