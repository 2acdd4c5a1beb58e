//===- Roofline.h - Lower bounds of the time of commands --------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_ROOFLINE_H
#define WEFT_TOOLS_WEFT_ROOFLINE_H

#include "CommandCosts.h"

#include "weft/Base/Flags.h"
#include "weft/Schedule/CostTableFile.h"

#include <optional>

namespace weft {

/// Rates of a machine. Overheads are in no bound.
class RooflineRates {
public:
  /// A known device by its name, or a cost table for `target` ("cpu" or "cuda")
  /// in a TOML file. Exit 2 names the known devices.
  static Expected<RooflineRates> find(const std::string &device,
                                      llvm::StringRef target);

  /// 10^9 operations and 10^9 bytes a second of commands like this one. The
  /// element type is the first one that the command's name gives.
  Rates getRates(const CommandCost &command) const;

  std::string name;
  /// 10^9 instructions of warps a second; null where nobody measured them.
  std::optional<double> issueGiga;

private:
  CostTable table;
  std::shared_ptr<mlir::MLIRContext> context;
};

/// Inputs of `--roofline` besides the program.
struct RooflineInputs {
  std::string device;
  /// A JSON object: instructions of warps in one call of a kernel, by symbol.
  /// Counts of kernels that are not in it are unknown, and in no bound.
  std::optional<std::string> instructions;
  /// The output of makeProfile, or null.
  const Json *profile = nullptr;
};

/// An object for the commands of a step with one micro-batch:
/// - `device`;
/// - `commands`: `program`, `index`, `symbol`, `name`, `scope`, `generated`,
///   `flops`, `bytes`, `instructions`, and in microseconds `compute_us`,
///   `memory_us`, `issue_us`, the largest of them `bound_us`, and `limit`,
///   which says which one that is;
/// - `kinds` (by name and symbol), `scopes`, `total`: `calls` and sums.
/// With a profile, kinds and scopes have `measured_us` of a step. A number that
/// is not known is null. Exit 2 for the device, 3 for a broken file.
Expected<Json> makeRoofline(const Json &metadata, const RooflineInputs &inputs);

/// The roofline that the flags of weft inspect request. Exit 2 for a program of
/// a CPU without --device.
Expected<Json> inspectRoofline(const Json &metadata, const FlagValues &flags,
                               const std::optional<Json> &profile);

/// The roofline as tables on standard output.
void printRoofline(const Json &roofline);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_ROOFLINE_H
