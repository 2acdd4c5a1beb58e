//===- Interp.h - The reference interpreter of weft -------------*- C++ -*-===//
//
// Runs the programs of a module one op after the other, each by the simplest
// loop that defines the op. It is slow on purpose: it is the reference for
// passes and generated code. Programs over values and plans have separate
// interpreters behind one interface.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERP_INTERP_H
#define WEFT_INTERP_INTERP_H

#include "weft/Interp/Tensor.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace weft {

class ProgramOp;
class ProgramRun;
enum class ProgramKind : uint32_t;

enum class ComputeMode {
  /// Everything in double, whatever the module says: f32, f16 and bf16 tensors
  /// hold doubles and nothing is rounded. For finite differences.
  F64,
  /// Each result is rounded to its own element type (an f64 tensor stays
  /// double). Inside one op sums and products are kept in double.
  F32,
};

using TensorMap = std::map<std::string, Tensor>;

/// Inputs and written states of a program over values or of a plan.
struct ProgramInfo {
  struct Input {
    std::string name;
    mlir::RankedTensorType type;
    /// For an integer input: the number of rows that it selects from.
    int64_t choices = 2;
  };

  mlir::Operation *op = nullptr;
  std::string name;
  /// Nothing for a kind that weft programs do not have.
  std::optional<ProgramKind> kind;
  std::vector<Input> inputs;
  /// Parameters and states.
  std::vector<std::string> written;

  bool hasInput(llvm::StringRef input) const;
};

/// Runs the programs of a module as one rank and holds its state.
class ModuleRunner {
public:
  virtual ~ModuleRunner() = default;

  ComputeMode getMode() const { return mode; }
  mlir::ModuleOp getModule() const { return module; }

  /// In the order of the file.
  virtual std::vector<ProgramInfo> getPrograms() const = 0;
  /// Names of the parameters that are tensors of their own.
  virtual std::vector<std::string> getParameters() const = 0;
  /// Names of the states that each step resets: gradients, their sums over
  /// ranks, and their presence counts.
  virtual std::vector<std::string> getGradients() const = 0;
  /// Gives parameters their initial values for that seed.
  virtual llvm::LogicalResult initialize(int64_t seed) = 0;
  /// Sets the parameter or state `name` (without '@'). Shape and kind (floating
  /// point, integer, boolean) must match.
  virtual llvm::LogicalResult setState(llvm::StringRef name, Tensor value) = 0;
  /// Null if there is none of that name or it has no value yet.
  virtual const Tensor *findState(llvm::StringRef name) const = 0;
  /// Runs a program: one tensor for each of its inputs, no others. Returns its
  /// outputs by name; on failure no state is written. Collectives want the
  /// ranks of their mesh: with more than one, run them by RanksRunner.h.
  llvm::FailureOr<TensorMap> run(llvm::StringRef program,
                                 const TensorMap &inputs);

  /// Every parameter and state that has a value, by name.
  const TensorMap &getStates() const { return states; }

protected:
  friend class RanksRunner;

  ModuleRunner(mlir::ModuleOp module, ComputeMode mode)
      : module(module), mode(mode) {}

  /// A run of a program that has its inputs and has evaluated nothing yet.
  virtual llvm::FailureOr<std::unique_ptr<ProgramRun>>
  start(llvm::StringRef program, const TensorMap &inputs) = 0;

  /// Brings `value` to the type that the module declares.
  llvm::FailureOr<Tensor> adopt(Tensor value, mlir::RankedTensorType type,
                                mlir::Location loc, llvm::StringRef what) const;
  /// The inputs of a program in its order.
  llvm::FailureOr<std::vector<Tensor>>
  bindInputs(const ProgramInfo &program, const TensorMap &inputs) const;

  mlir::ModuleOp module;
  ComputeMode mode;
  TensorMap states;
};

/// The runner of the module, for programs over values or for a plan. Commands
/// of a plan with several streams run in one of the orders that its events
/// allow. The seed `streamOrder` selects the order, which is the same in all
/// runs of a program; 0 selects plan order.
std::unique_ptr<ModuleRunner>
makeRunner(mlir::ModuleOp module, ComputeMode mode, uint64_t streamOrder = 0);

class Interpreter : public ModuleRunner {
public:
  /// States start at zero; parameters have no value until initialize(),
  /// setState() or a program writes them. The module must outlive this object
  /// and is read again at every run.
  explicit Interpreter(mlir::ModuleOp module,
                       ComputeMode mode = ComputeMode::F64);

  std::vector<ProgramInfo> getPrograms() const override;
  std::vector<std::string> getParameters() const override;
  std::vector<std::string> getGradients() const override;

  /// Gives every parameter with an `init` attribute its initial values: the
  /// draws of the init program for that seed.
  llvm::LogicalResult initialize(int64_t seed) override;

  /// A tied parameter sets the tensor that it shares.
  llvm::LogicalResult setState(llvm::StringRef name, Tensor value) override;
  const Tensor *findState(llvm::StringRef name) const override;

  /// Evaluates one op on given operands.
  llvm::FailureOr<llvm::SmallVector<Tensor>>
  evaluateOp(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

  /// Called after each op of a program (not inside of kernels).
  using Observer =
      std::function<void(mlir::Operation *, llvm::ArrayRef<Tensor> results)>;
  void setObserver(Observer function) { observer = std::move(function); }

  /// Values of a straight-line block, for op implementations that have a body.
  llvm::FailureOr<llvm::SmallVector<Tensor>>
  evaluateBlock(mlir::Block &block, llvm::ArrayRef<const Tensor *> arguments);

protected:
  /// Its writes are applied at the end.
  llvm::FailureOr<std::unique_ptr<ProgramRun>>
  start(llvm::StringRef program, const TensorMap &inputs) override;

private:
  class BlockRun;
  class Run;
  /// Splits the terminator's operands into outputs and writes, and applies the
  /// writes.
  llvm::FailureOr<TensorMap> finish(ProgramOp program,
                                    llvm::SmallVector<Tensor> returned);
  Observer observer;
};

/// Registers the functions of all ops, and the library "interpreter"
/// (weft/Analysis/KernelLibrary.h), which has a routine for every kind of
/// command.
void registerInterpreter(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_INTERP_INTERP_H
