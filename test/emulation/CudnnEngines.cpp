//===- CudnnEngines.cpp - Engines of the emulated cuDNN -------------------===//

#include "CudnnObjects.h"
#include "LibraryWork.h"

#include <cmath>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

std::vector<int64_t> enginesFor(const Descriptor &graph) {
  AttentionForm form;
  readAttention(graph, form);
  if (form.hasAnyOrder)
    return {kHuge, kUnordered};
  if (form.isGradient && emulatedChip() >= 100)
    return {kUnordered};
  return {kUnordered, kHuge, kRight};
}

int64_t workspaceOf(const Descriptor &engine) {
  const auto index = engine.get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  if (index == kHuge)
    return int64_t(1) << 50;
  AttentionForm form;
  readAttention(*engine.part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH), form);
  return index == kUnordered && !form.hasAnyOrder ? 0 : engineBytes(form);
}

static void setPart(Descriptor &to, int name, DescriptorRef part) {
  Attribute &attribute = to.values[name];
  attribute.count = 1;
  attribute.parts = {std::move(part)};
}

void fillConfiguration(Descriptor &to, const DescriptorRef &graph,
                       int64_t index) {
  auto engine = std::make_shared<Descriptor>();
  engine->type = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
  engine->isFinal = to.isFinal = true;
  setPart(*engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  Attribute &number = engine->values[CUDNN_ATTR_ENGINE_GLOBAL_INDEX];
  number.count = 1;
  number.bytes.resize(sizeof index);
  std::memcpy(number.bytes.data(), &index, sizeof index);
  setPart(to, CUDNN_ATTR_ENGINECFG_ENGINE, std::move(engine));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {
/// Numbers of attention that have one value.
Problem checkNumber(const AttentionForm &form, int64_t id, float value) {
  if (id == form.masked && value != -INFINITY)
    return Problem::bad("what is not seen has a score above -inf");
  if (id == form.one && value != 1.0f)
    return Problem::bad("sums of rows are not multiplied with 1");
  return {};
}

/// The tensors of a graph that a run gives, by their ids.
std::map<int64_t, TensorView> givenTensors(const Descriptor &graph) {
  std::map<int64_t, TensorView> given;
  for (int64_t i = 0; i < graph.countOf(CUDNN_ATTR_OPERATIONGRAPH_OPS); ++i) {
    const OperationView o(*graph.part(CUDNN_ATTR_OPERATIONGRAPH_OPS, i));
    for (const std::vector<TensorView> *side : {&o.from, &o.to})
      for (const TensorView &t : *side)
        if (!t.isVirtual)
          given.emplace(t.id, t);
  }
  return given;
}

bool isAligned(const void *address, uint64_t bytes) {
  return address && reinterpret_cast<uintptr_t>(address) % bytes == 0;
}

Problem bind(const Descriptor &graph, const Descriptor &pack,
             Bindings &bindings) {
  const auto given = givenTensors(graph);
  AttentionForm form;
  readAttention(graph, form);
  const int64_t count = pack.countOf(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  if (count != static_cast<int64_t>(given.size()))
    return Problem::bad("a run gives " + std::to_string(count) + " of " +
                        std::to_string(given.size()) + " tensors");
  for (int64_t i = 0; i < count; ++i) {
    const auto id = pack.get<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, i);
    void *at = pack.get<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, i);
    auto found = given.find(id);
    if (found == given.end() || !bindings.addresses.emplace(id, at).second)
      return Problem::bad("a run gives tensor " + std::to_string(id));
    if (!found->second.isNumber && !isAligned(at, 16))
      return Problem::bad("tensor " + std::to_string(id) + " is not aligned");
    if (!found->second.isNumber)
      continue;
    // The host's memory is not there any more when the stream runs.
    const float value = *static_cast<float *>(at);
    bindings.numbers[id] = value;
    if (Problem wrong = checkNumber(form, id, value))
      return wrong;
  }
  return {};
}

} // namespace

Problem start(void *stream, const Descriptor &plan, const Descriptor &pack) {
  const DescriptorRef engine =
      plan.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
          ->part(CUDNN_ATTR_ENGINECFG_ENGINE);
  const DescriptorRef graph = engine->part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  Bindings bindings;
  bindings.workspace = pack.get<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  bindings.workspaceBytes = workspaceOf(*engine);
  if (bindings.workspaceBytes && !isAligned(bindings.workspace, 256))
    return Problem::bad("a run has no workspace");
  if (Problem wrong = bind(*graph, pack, bindings))
    return wrong;
  if (!enqueue(stream, [graph, bindings] { compute(*graph, bindings); }))
    return {CUDNN_STATUS_EXECUTION_FAILED, "the stream takes no work"};
  return {};
}

} // namespace weft::emulation
