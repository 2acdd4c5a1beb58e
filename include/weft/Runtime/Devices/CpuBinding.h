//===- CpuBinding.h - CPUs next to a device ---------------------*- C++ -*-===//
//
// A rank's threads run on the CPUs of its device's NUMA node, and its memory
// comes from there. A binding by a user, a launcher or a container stays.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CPUBINDING_H
#define WEFT_RUNTIME_DEVICES_CPUBINDING_H

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The CPUs of a list of the kernel, such as "0-3,8", in rising order; nothing
/// if the text is none.
std::optional<std::vector<int>> parseCpuList(const std::string &text);
/// "0-3,8".
std::string cpuListText(const std::vector<int> &cpus);

struct CpuBinding {
  std::vector<int> cpus; // empty: no binding
  int node = -1;
  std::string refusal; // why there is none

  /// "0-3 of NUMA node 0", or "not bound: ...".
  std::string describe() const;
};

/// The CPUs for the device with that PCI bus id, where a process may use the
/// CPUs `allowed`. Reads below `root`, which is "/sys" outside of tests.
CpuBinding chooseCpus(const std::string &root, std::string busId,
                      const std::vector<int> &allowed);

/// The CPUs that this process may use, in rising order; empty if the kernel
/// does not say.
std::vector<int> allowedCpus();

/// Binds all threads of this process, and prefers memory of the node for this
/// thread and its later children. If the kernel refuses that, the binding says
/// so.
void bindProcess(CpuBinding &binding);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CPUBINDING_H
