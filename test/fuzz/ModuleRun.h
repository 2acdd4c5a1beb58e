//===- ModuleRun.h - One run of a fuzzer of modules -------------*- C++ -*-===//

#ifndef WEFT_TEST_FUZZ_MODULERUN_H
#define WEFT_TEST_FUZZ_MODULERUN_H

#include "Check.h"

#include "weft/Frontend/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>

/// LLVM's allocators poison free memory where ASan is on, but the code in
/// libMLIR.so, built without it, never unpoisons. One source of a fuzzer
/// includes this header.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

/// A context keeps every type and attribute it has seen, so it is replaced
/// after so many runs.
inline mlir::MLIRContext &
freshContext(void (*registerDialects)(mlir::DialectRegistry &), int most) {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int runs = 0;
  if (!context || ++runs % most == 0) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
  }
  return *context;
}

inline std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

/// Bytes as the text of a module. Listens to errors as long as it lives: each
/// has a message.
class ModuleRun {
public:
  explicit ModuleRun(mlir::MLIRContext &context)
      : context(context), handler(&context, [this](mlir::Diagnostic &message) {
          failed |= message.getSeverity() == mlir::DiagnosticSeverity::Error;
          FUZZ_CHECK(!message.str().empty());
        }) {}

  /// The module, or null. Refused text has an error; an accepted module prints
  /// in a form that parses again to the same text.
  mlir::OwningOpRef<mlir::ModuleOp> parse(const uint8_t *data, size_t size) {
    llvm::StringRef text(reinterpret_cast<const char *>(data), size);
    auto module = weft::parseText(text, "fuzz.mlir", context);
    FUZZ_CHECK(succeeded(module) != failed);
    if (mlir::failed(module))
      return nullptr;
    std::string printed = print(**module);
    auto again = weft::parseText(printed, "again.mlir", context);
    FUZZ_CHECK(succeeded(again));
    FUZZ_CHECK(print(**again) == printed);
    return std::move(*module);
  }

  /// Whether there was an error.
  bool hasFailed() const { return failed; }

private:
  mlir::MLIRContext &context;
  bool failed = false;
  mlir::ScopedDiagnosticHandler handler;
};

#endif // WEFT_TEST_FUZZ_MODULERUN_H
