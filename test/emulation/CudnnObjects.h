//===- CudnnObjects.h - Objects of the emulated cuDNN -----------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_CUDNNOBJECTS_H
#define WEFT_TEST_EMULATION_CUDNNOBJECTS_H

#include <array>
#include <cstring>
#include <cudnn_graph.h>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::emulation {

struct Descriptor;
using DescriptorRef = std::shared_ptr<Descriptor>;

/// The values of an attribute: bytes, or descriptors.
struct Attribute {
  int64_t count = 0;
  std::vector<char> bytes;
  std::vector<DescriptorRef> parts;
};

/// cudnnBackendDescriptor_t.
struct Descriptor {
  cudnnBackendDescriptorType_t type;
  bool isFinal = false;
  std::map<int, Attribute> values;

  bool has(int name) const { return values.count(name) != 0; }
  int64_t countOf(int name) const {
    return has(name) ? values.at(name).count : 0;
  }
  template <typename T> T get(int name, int64_t i = 0) const {
    T value = {};
    if (i < countOf(name))
      std::memcpy(&value, values.at(name).bytes.data() + i * sizeof(T),
                  sizeof(T));
    return value;
  }
  DescriptorRef part(int name, int64_t i = 0) const {
    return i < countOf(name) ? values.at(name).parts[i] : nullptr;
  }
};

using Sizes = std::array<int64_t, 4>;

/// A finished tensor descriptor.
struct TensorView {
  const Descriptor *descriptor;
  int64_t id;
  cudnnDataType_t type;
  Sizes sizes, strides;
  bool isVirtual, isNumber;

  explicit TensorView(const Descriptor &of);
  bool isLow() const {
    return type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
  }
};

/// One operation: up to three operands, then the result.
struct OperationView {
  enum Kind { Matmul, Pointwise, Reduction, Reshape } kind;
  int mode = 0;      // of a pointwise operation or a reduction
  int64_t axis = -1; // of an index
  std::vector<TensorView> from;
  std::vector<TensorView> to; // one

  explicit OperationView(const Descriptor &of);
};

/// An error in a descriptor of the program, with its status.
struct Problem {
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  std::string text;

  static Problem bad(std::string text) {
    return {CUDNN_STATUS_BAD_PARAM, std::move(text)};
  }
  explicit operator bool() const { return status != CUDNN_STATUS_SUCCESS; }
};

/// Whether a descriptor takes that attribute, of that type, that many times.
Problem checkAttribute(const Descriptor &descriptor, int name, int type,
                       int64_t count);
/// Whether all required attributes of a descriptor are set, to consistent
/// values.
Problem checkFinal(const Descriptor &descriptor);

/// An attention graph: its sizes, and the ids of its numbers.
struct AttentionForm {
  bool isGradient = false, isCausal = false;
  bool hasAnyOrder = false; // of the sums of gradients
  int64_t batch, heads, keyHeads, queries, keys, size;
  int64_t scale = -1, masked = -1, one = -1; // ids of numbers
};

/// Reads a finished graph; a problem if it is no form of attention.
Problem readAttention(const Descriptor &graph, AttentionForm &form);
/// The operations of a graph, one a line.
std::string describeGraph(const Descriptor &graph);

/// 90 for sm_90.
int emulatedChip();
/// Workspace of the recommended engine, in bytes.
int64_t engineBytes(const AttentionForm &form);

/// One that adds in any order, one that takes more memory than there is, and
/// the one to take, in the order of the library. Which engine of sm_100 adds
/// gradients in one order has to be known. For a graph that leaves the order
/// open there is no other one than the first.
enum Engine : int64_t { kUnordered = 0, kHuge = 1, kRight = 2, kOrdered = 5 };
std::vector<int64_t> enginesFor(const Descriptor &graph);
/// Workspace of a finished engine, in bytes.
int64_t workspaceOf(const Descriptor &engine);
/// Makes a descriptor of the program's a configuration of that engine.
void fillConfiguration(Descriptor &to, const DescriptorRef &graph,
                       int64_t index);

/// Where the tensors of a run are; numbers by value.
struct Bindings {
  std::map<int64_t, void *> addresses;
  std::map<int64_t, float> numbers;
  void *workspace = nullptr;
  int64_t workspaceBytes = 0;
};

/// Gives a finished plan to a stream, with the tensors of a finished pack.
Problem start(void *stream, const Descriptor &plan, const Descriptor &pack);

/// Computes a graph: a plain loop for each operation.
void compute(const Descriptor &graph, const Bindings &bindings);

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_CUDNNOBJECTS_H
