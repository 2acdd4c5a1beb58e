//===- ModelBuilder.h - Builds the programs of a language model -*- C++ -*-===//
//
// Ops get the current scope ("h.3.attn") and a named location in the
// configuration file.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FRONTEND_MODELBUILDER_H
#define WEFT_LIB_FRONTEND_MODELBUILDER_H

#include "weft/Weft/Weft.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace weft {

/// Sizes that every language model has.
struct LanguageModelSizes {
  int64_t batch = 1, seq = 1, vocab = 1;
};

class ModelBuilder {
public:
  ModelBuilder(mlir::ModuleOp module, mlir::Location fileLoc)
      : module(module), fileLoc(fileLoc), b(module.getBodyRegion()) {}

  /// Adds "name" to the scope for its lifetime; an empty one adds nothing.
  class Scope {
  public:
    Scope(ModelBuilder &builder, const llvm::Twine &name);
    ~Scope() { builder.scope = before; }
    Scope(const Scope &) = delete;

  private:
    ModelBuilder &builder;
    std::string before;
  };

  // Parameters.
  InitAttr zeros();
  InitAttr ones();
  InitAttr normal(double std);
  void param(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
             InitAttr init, llvm::StringRef tie = "");
  /// Fails after an error at the first that is none.
  mlir::LogicalResult verifyParams();

  // Programs.
  /// `model`: tokens and targets to the mean loss.
  void
  lossProgram(const LanguageModelSizes &sizes,
              std::function<mlir::Value(mlir::Value tokens)> logitsOfTokens);
  /// `logits`: tokens and a position to the scores of the next token. `hidden`
  /// gives the last hidden states, `head` their scores.
  void logitsProgram(const LanguageModelSizes &sizes,
                     std::function<mlir::Value(mlir::Value tokens)> hidden,
                     std::function<mlir::Value(mlir::Value rows)> head);

  // Values.
  mlir::Value read(const llvm::Twine &name);
  /// x w (+ bias), with w [in, out], or [out, in] if `transposed`.
  mlir::Value linear(mlir::Value x, const llvm::Twine &weight, bool transposed,
                     const llvm::Twine &bias = "");
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value embedding(mlir::Value table, mlir::Value ids);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// Elements [begin, begin + size) of dimension `dim`.
  mlir::Value slice(mlir::Value x, unsigned dim, int64_t begin, int64_t size);
  mlir::Value concat(mlir::ValueRange values, int64_t dim);
  /// Nothing if p is 0; else a dropout with an op id of its own.
  mlir::Value dropout(mlir::Value x, double p);
  /// Causal attention; with its own op id if `dropout` is not 0. `window` and
  /// `softcap` of 0: none.
  mlir::Value attention(mlir::Value query, mlir::Value key, mlir::Value value,
                        double scale, double dropout, int64_t window = 0,
                        double softcap = 0);
  mlir::Value constant(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<float> values);

  /// Creates an op in the current scope.
  template <typename Op, typename... Args>
  Op create(llvm::StringRef name, Args &&...args) {
    Op op = Op::create(b, location(name), std::forward<Args>(args)...);
    if (!scope.empty())
      setScope(op, b.getStringAttr(scope));
    return op;
  }

  mlir::OpBuilder &builder() { return b; }
  static llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

private:
  mlir::Location location(llvm::StringRef name);
  using Port = std::pair<llvm::StringRef, mlir::Type>;
  /// Starts a program and returns its arguments.
  mlir::ValueRange begin(llvm::StringRef name, ProgramKind kind,
                         llvm::ArrayRef<Port> inputs, Port output);

  mlir::ModuleOp module;
  mlir::Location fileLoc;
  mlir::OpBuilder b;
  std::string scope;
  llvm::StringMap<mlir::Type> paramTypes;
  int64_t opId = 0;
};

} // namespace weft

#endif // WEFT_LIB_FRONTEND_MODELBUILDER_H
