//===- Interp.h - The reference interpreter of weft -------------*- C++ -*-===//
//
// Runs the programs of a module one op after the other, each by the plainest
// loop that says what the op means. It is slow on purpose: it is what passes
// and generated code are compared with.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERP_INTERP_H
#define WEFT_INTERP_INTERP_H

#include "weft/Interp/Tensor.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <string>

namespace weft {

class ProgramOp;

enum class ComputeMode {
  /// Everything in double, whatever the module says: f32, f16 and bf16 tensors
  /// hold doubles and nothing is rounded. For finite differences.
  F64,
  /// Each result is rounded to its own element type (an f64 tensor stays
  /// double). Inside one op sums and products are kept in double.
  F32,
};

using TensorMap = std::map<std::string, Tensor>;

class Interpreter {
public:
  /// States start at zero; parameters have no value until initialize(),
  /// setState() or a program writes them. The module must outlive this object
  /// and is read again at every run.
  explicit Interpreter(mlir::ModuleOp module,
                       ComputeMode mode = ComputeMode::F64);

  ComputeMode getMode() const { return mode; }
  mlir::ModuleOp getModule() const { return module; }

  /// Gives every parameter with an `init` attribute its initial values: the
  /// draws of the init program for that seed.
  llvm::LogicalResult initialize(int64_t seed);

  /// Sets the parameter or state `name` (without '@'). Shape and kind (floating
  /// point, integer, boolean) must match; a tied parameter sets the tensor that
  /// it shares.
  llvm::LogicalResult setState(llvm::StringRef name, Tensor value);
  /// Null if there is none of that name or it has no value yet.
  const Tensor *findState(llvm::StringRef name) const;
  /// Every parameter and state that has a value, by name.
  const TensorMap &getStates() const { return states; }

  /// Runs a program: one tensor for each of its `weft.input` names, no others.
  /// Returns its outputs by name and applies its writes at the end; on failure
  /// nothing is written.
  llvm::FailureOr<TensorMap> run(llvm::StringRef program,
                                 const TensorMap &inputs);

  /// Evaluates one op on given operands.
  llvm::FailureOr<llvm::SmallVector<Tensor>>
  evaluateOp(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

  /// Called after each op of a program (not inside of kernels).
  using Observer =
      std::function<void(mlir::Operation *, llvm::ArrayRef<Tensor> results)>;
  void setObserver(Observer function) { observer = std::move(function); }

  /// Values of a straight-line block, for op implementations that have a body.
  llvm::FailureOr<llvm::SmallVector<Tensor>>
  evaluateBlock(mlir::Block &block, llvm::ArrayRef<const Tensor *> arguments,
                bool observed);

private:
  class ValueStore;
  using OperandRefs = llvm::ArrayRef<const Tensor *>;
  /// Evaluates the ops of a block up to its terminator, regions of
  /// weft.autocast as if their ops stood in the block.
  llvm::LogicalResult evaluateOps(mlir::Block &block, ValueStore &values,
                                  bool observed);
  llvm::FailureOr<llvm::SmallVector<Tensor>> evaluate(mlir::Operation *op,
                                                      OperandRefs operands);
  llvm::FailureOr<std::vector<Tensor>>
  bindInputs(ProgramOp program, const TensorMap &inputs) const;
  /// Splits what the terminator returned, and applies the writes.
  llvm::FailureOr<TensorMap> finish(ProgramOp program,
                                    llvm::SmallVector<Tensor> returned);
  /// Brings `value` to the type that the module declares.
  llvm::FailureOr<Tensor> adopt(Tensor value, mlir::RankedTensorType type,
                                mlir::Location loc, llvm::StringRef what) const;

  mlir::ModuleOp module;
  ComputeMode mode;
  TensorMap states;
  Observer observer;
};

/// Whether the interpreter knows the op.
bool isInterpretable(llvm::StringRef opName);

} // namespace weft

#endif // WEFT_INTERP_INTERP_H
