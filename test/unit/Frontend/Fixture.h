//===- Fixture.h - Loads models and keeps what was reported -----*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_FRONTEND_FIXTURE_H
#define WEFT_TEST_UNIT_FRONTEND_FIXTURE_H

#include "weft/Frontend/Frontend.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Diagnostics.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

class FrontendTest : public testing::Test {
protected:
  FrontendTest() {
    context.loadDialect<weft::WeftDialect>();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) {
      std::string place;
      if (auto loc = llvm::dyn_cast<mlir::FileLineColLoc>(diag.getLocation()))
        place =
            std::filesystem::path(loc.getFilename().str()).filename().string() +
            ":" + std::to_string(loc.getLine()) + ": ";
      messages += place + diag.str() + "\n";
      for (mlir::Diagnostic &note : diag.getNotes())
        hints += note.str() + "\n";
      return mlir::success();
    });
    std::string pattern =
        (std::filesystem::temp_directory_path() / "weft-frontend-XXXXXX")
            .string();
    folder = mkdtemp(pattern.data());
  }
  ~FrontendTest() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &name, const std::string &text) {
    std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  mlir::ModuleOp load(const std::string &path) {
    messages.clear();
    hints.clear();
    auto loaded = weft::loadModel(path, options, context);
    module = succeeded(loaded) ? std::move(*loaded)
                               : mlir::OwningOpRef<mlir::ModuleOp>();
    return module ? *module : mlir::ModuleOp();
  }

  std::string text() {
    std::string result;
    llvm::raw_string_ostream os(result);
    module->print(os);
    return result;
  }

  mlir::MLIRContext context;
  std::filesystem::path folder;
  weft::FrontendOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Errors and warnings, and the notes of them.
  std::string messages, hints;
};

#endif // WEFT_TEST_UNIT_FRONTEND_FIXTURE_H
