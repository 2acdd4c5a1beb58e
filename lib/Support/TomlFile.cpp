//===- TomlFile.cpp - TOML files with locations ---------------------------===//

#include "weft/Support/TomlFile.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace weft {

Location locateToml(MLIRContext *context, StringRef path,
                    const toml::source_region &source) {
  return FileLineColLoc::get(context, path, source.begin.line,
                             source.begin.column);
}

FailureOr<toml::table> readTomlFile(MLIRContext *context, StringRef path,
                                    StringRef what) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return emitError(FileLineColLoc::get(context, path, 0, 0),
                     "expects a readable ")
           << what << ", but got: " << file.getError().message();
  StringRef text = (*file)->getBuffer();
  toml::parse_result parsed =
      toml::parse(std::string_view(text.data(), text.size()));
  if (!parsed)
    return emitError(locateToml(context, path, parsed.error().source()),
                     "expects TOML, but got: ")
           << std::string(parsed.error().description());
  return std::move(parsed).table();
}

} // namespace weft
