//===- ClusterFile.h - Nodes and links of a cluster in a file ---*- C++ -*-===//

#ifndef WEFT_SCHEDULE_CLUSTERFILE_H
#define WEFT_SCHEDULE_CLUSTERFILE_H

#include "weft/Analysis/Cost.h"

#include "mlir/IR/MLIRContext.h"

namespace weft {

struct ClusterFile {
  MachineCluster cluster;
  /// Its `[costs]`, if it has any.
  std::optional<CostTable> costs;
};

/// Reads a cluster from a TOML file: `target`, `ranks_per_node`,
/// `ranks_per_core`, `algorithm` ("ring", "direct" or "hierarchical"), the
/// links `[node]` and `[network]` with `gigabytes_per_second` and `latency_us`,
/// and `[costs]`, a cost table (CostTableFile.h). Emits an error at the line of
/// the file. A cluster for another `target` or without one is an error; an
/// empty `target` accepts all clusters.
llvm::FailureOr<ClusterFile> readClusterFile(mlir::MLIRContext *context,
                                             llvm::StringRef path,
                                             llvm::StringRef target = "");

} // namespace weft

#endif // WEFT_SCHEDULE_CLUSTERFILE_H
