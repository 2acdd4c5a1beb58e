//===- CudnnRules.cpp - Descriptors that the emulated cuDNN takes ---------===//
//
// Attributes by descriptor. Attributes that are not listed are refused, and so
// are values that attention does not have.
//
//===----------------------------------------------------------------------===//

#include "CudnnObjects.h"

#include <utility>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
struct Rule {
  int descriptor, name, type;
  int64_t least, most; // how many; 0: may be missing
};
} // namespace

#define WEFT_ONE(descriptor, name, type)                                       \
  {CUDNN_BACKEND_##descriptor##_DESCRIPTOR, CUDNN_ATTR_##name,                 \
   CUDNN_TYPE_##type, 1, 1}
#define WEFT_SOME(descriptor, name, type, least, most)                         \
  {CUDNN_BACKEND_##descriptor##_DESCRIPTOR, CUDNN_ATTR_##name,                 \
   CUDNN_TYPE_##type, least, most}
#define WEFT_PART(descriptor, name)                                            \
  WEFT_ONE(descriptor, name, BACKEND_DESCRIPTOR)

static const Rule kRules[] = {
    WEFT_ONE(TENSOR, TENSOR_DATA_TYPE, DATA_TYPE),
    WEFT_SOME(TENSOR, TENSOR_DIMENSIONS, INT64, 4, 4),
    WEFT_SOME(TENSOR, TENSOR_STRIDES, INT64, 4, 4),
    WEFT_ONE(TENSOR, TENSOR_UNIQUE_ID, INT64),
    WEFT_ONE(TENSOR, TENSOR_BYTE_ALIGNMENT, INT64),
    WEFT_SOME(TENSOR, TENSOR_IS_VIRTUAL, BOOLEAN, 0, 1),
    WEFT_SOME(TENSOR, TENSOR_IS_BY_VALUE, BOOLEAN, 0, 1),
    WEFT_ONE(MATMUL, MATMUL_COMP_TYPE, DATA_TYPE),
    WEFT_PART(OPERATION_MATMUL, OPERATION_MATMUL_ADESC),
    WEFT_PART(OPERATION_MATMUL, OPERATION_MATMUL_BDESC),
    WEFT_PART(OPERATION_MATMUL, OPERATION_MATMUL_CDESC),
    WEFT_PART(OPERATION_MATMUL, OPERATION_MATMUL_DESC),
    WEFT_ONE(POINTWISE, POINTWISE_MODE, POINTWISE_MODE),
    WEFT_ONE(POINTWISE, POINTWISE_MATH_PREC, DATA_TYPE),
    WEFT_SOME(POINTWISE, POINTWISE_AXIS, INT64, 0, 1),
    WEFT_PART(OPERATION_POINTWISE, OPERATION_POINTWISE_PW_DESCRIPTOR),
    WEFT_PART(OPERATION_POINTWISE, OPERATION_POINTWISE_XDESC),
    WEFT_PART(OPERATION_POINTWISE, OPERATION_POINTWISE_YDESC),
    WEFT_SOME(OPERATION_POINTWISE, OPERATION_POINTWISE_BDESC,
              BACKEND_DESCRIPTOR, 0, 1),
    WEFT_SOME(OPERATION_POINTWISE, OPERATION_POINTWISE_TDESC,
              BACKEND_DESCRIPTOR, 0, 1),
    WEFT_ONE(REDUCTION, REDUCTION_COMP_TYPE, DATA_TYPE),
    WEFT_ONE(REDUCTION, REDUCTION_OPERATOR, REDUCTION_OPERATOR_TYPE),
    WEFT_PART(OPERATION_REDUCTION, OPERATION_REDUCTION_DESC),
    WEFT_PART(OPERATION_REDUCTION, OPERATION_REDUCTION_XDESC),
    WEFT_PART(OPERATION_REDUCTION, OPERATION_REDUCTION_YDESC),
    WEFT_PART(OPERATION_RESHAPE, OPERATION_RESHAPE_XDESC),
    WEFT_PART(OPERATION_RESHAPE, OPERATION_RESHAPE_YDESC),
    WEFT_ONE(OPERATIONGRAPH, OPERATIONGRAPH_HANDLE, HANDLE),
    WEFT_SOME(OPERATIONGRAPH, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, 1, 64),
    WEFT_PART(ENGINEHEUR, ENGINEHEUR_OPERATION_GRAPH),
    WEFT_ONE(ENGINEHEUR, ENGINEHEUR_MODE, HEUR_MODE),
    WEFT_PART(ENGINE, ENGINE_OPERATION_GRAPH),
    WEFT_ONE(ENGINE, ENGINE_GLOBAL_INDEX, INT64),
    WEFT_ONE(KNOB_CHOICE, KNOB_CHOICE_KNOB_TYPE, KNOB_TYPE),
    WEFT_ONE(KNOB_CHOICE, KNOB_CHOICE_KNOB_VALUE, INT64),
    WEFT_PART(ENGINECFG, ENGINECFG_ENGINE),
    WEFT_SOME(ENGINECFG, ENGINECFG_KNOB_CHOICES, BACKEND_DESCRIPTOR, 0, 16),
    WEFT_ONE(EXECUTION_PLAN, EXECUTION_PLAN_HANDLE, HANDLE),
    WEFT_PART(EXECUTION_PLAN, EXECUTION_PLAN_ENGINE_CONFIG),
    WEFT_SOME(VARIANT_PACK, VARIANT_PACK_UNIQUE_IDS, INT64, 1, 64),
    WEFT_SOME(VARIANT_PACK, VARIANT_PACK_DATA_POINTERS, VOID_PTR, 1, 64),
    WEFT_ONE(VARIANT_PACK, VARIANT_PACK_WORKSPACE, VOID_PTR),
};

Problem checkAttribute(const Descriptor &descriptor, int name, int type,
                       int64_t count) {
  const std::string what = "attribute " + std::to_string(name);
  for (const Rule &rule : kRules) {
    if (rule.descriptor != descriptor.type || rule.name != name)
      continue;
    if (rule.type != type)
      return Problem::bad(what + " has another type");
    if (count < rule.least || count > rule.most)
      return Problem::bad(what + " is given " + std::to_string(count) +
                          " times");
    return {};
  }
  return Problem::bad(what + " is none of descriptor " +
                      std::to_string(descriptor.type));
}

static Problem checkMissing(const Descriptor &descriptor) {
  bool isKnown = false;
  for (const Rule &rule : kRules) {
    if (rule.descriptor != descriptor.type)
      continue;
    isKnown = true;
    if (rule.least > 0 && !descriptor.has(rule.name))
      return Problem::bad("attribute " + std::to_string(rule.name) +
                          " is missing");
    if (descriptor.has(rule.name))
      for (const DescriptorRef &part : descriptor.values.at(rule.name).parts)
        if (!part->isFinal)
          return Problem::bad("attribute " + std::to_string(rule.name) +
                              " is not finished");
  }
  return isKnown ? Problem() : Problem::bad("a descriptor of no use here");
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

TensorView::TensorView(const Descriptor &of)
    : descriptor(&of), id(of.get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)),
      type(of.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)),
      isVirtual(of.get<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL)),
      isNumber(of.get<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE)) {
  for (int i = 0; i < 4; ++i) {
    sizes[i] = of.get<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, i);
    strides[i] = of.get<int64_t>(CUDNN_ATTR_TENSOR_STRIDES, i);
  }
}

OperationView::OperationView(const Descriptor &of) : kind(Reshape) {
  auto add = [&](std::vector<TensorView> &to, int name) {
    if (of.has(name))
      to.emplace_back(*of.part(name));
  };
  if (of.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) {
    kind = Matmul;
    add(from, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
    add(from, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
    add(to, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
  } else if (of.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
    kind = Pointwise;
    const Descriptor &function =
        *of.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    mode = function.get<int>(CUDNN_ATTR_POINTWISE_MODE);
    if (function.has(CUDNN_ATTR_POINTWISE_AXIS))
      axis = function.get<int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
    add(from, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
    add(from, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    add(from, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
    add(to, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  } else if (of.type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
    kind = Reduction;
    mode = of.part(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
               ->get<int>(CUDNN_ATTR_REDUCTION_OPERATOR);
    add(from, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
    add(to, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  } else {
    add(from, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
    add(to, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
  }
}

//===----------------------------------------------------------------------===//
// Finished descriptors
//===----------------------------------------------------------------------===//

static Problem checkTensor(const Descriptor &descriptor) {
  const TensorView t(descriptor);
  if (descriptor.get<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT) != 16)
    return Problem::bad("a tensor is not aligned to 16 bytes");
  for (int i = 0; i < 4; ++i)
    if (t.sizes[i] < 1 || t.strides[i] < 1)
      return Problem::bad("a tensor has no elements");
  if (t.isVirtual && t.isNumber)
    return Problem::bad("a number is virtual");
  if (t.isNumber &&
      (t.type != CUDNN_DATA_FLOAT || t.sizes != Sizes{1, 1, 1, 1}))
    return Problem::bad("a number is not one f32");
  if (!t.isVirtual && !t.isLow() && t.type != CUDNN_DATA_FLOAT)
    return Problem::bad("a tensor in memory has a type of virtual ones");
  return {};
}

/// The same, or once for all.
static bool spreads(const TensorView &x, const TensorView &y) {
  for (int i = 0; i < 4; ++i)
    if (x.sizes[i] != y.sizes[i] && x.sizes[i] != 1)
      return false;
  return true;
}

static Problem checkMatmul(const OperationView &o) {
  const Sizes &a = o.from[0].sizes, &b = o.from[1].sizes, &y = o.to[0].sizes;
  const bool fits = a[0] == y[0] && b[0] == y[0] && a[1] == y[1] &&
                    y[1] % b[1] == 0 && a[2] == y[2] && a[3] == b[2] &&
                    b[3] == y[3];
  return fits ? Problem() : Problem::bad("the factors of a product do not fit");
}

static Problem checkPointwise(const OperationView &o,
                              const Descriptor &function) {
  const size_t operands = o.mode == CUDNN_POINTWISE_BINARY_SELECT ? 3
                          : o.mode == CUDNN_POINTWISE_EXP ||
                                  o.mode == CUDNN_POINTWISE_LOG ||
                                  o.mode == CUDNN_POINTWISE_IDENTITY ||
                                  o.mode == CUDNN_POINTWISE_GEN_INDEX
                              ? 1
                              : 2;
  if (o.from.size() != operands)
    return Problem::bad("an operation has " + std::to_string(o.from.size()) +
                        " operands");
  if ((o.mode == CUDNN_POINTWISE_GEN_INDEX) != (o.axis == 2 || o.axis == 3))
    return Problem::bad("an index has no dimension");
  const bool compares = o.mode == CUDNN_POINTWISE_CMP_GE;
  const auto type = function.get<int>(CUDNN_ATTR_POINTWISE_MATH_PREC);
  if (type != (compares ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT))
    return Problem::bad("an operation computes in another type");
  for (const TensorView &x : o.from)
    if (!spreads(x, o.to[0]))
      return Problem::bad("the operands of an operation do not fit");
  return {};
}

static Problem checkReduction(const OperationView &o) {
  const Sizes &x = o.from[0].sizes, &y = o.to[0].sizes;
  const bool overRow = y == Sizes{x[0], x[1], x[2], 1};
  const bool overHeads =
      x[1] % y[1] == 0 && y == Sizes{x[0], y[1], x[2], x[3]} && y[1] < x[1];
  return overRow || overHeads
             ? Problem()
             : Problem::bad("a reduction is over no row and no heads");
}

static Problem checkReshape(const OperationView &o) {
  const Sizes &x = o.from[0].sizes, &y = o.to[0].sizes;
  return y == Sizes{x[0], x[1], x[3], x[2]}
             ? Problem()
             : Problem::bad("a tensor is not turned");
}

static Problem checkOperation(const Descriptor &descriptor) {
  const OperationView o(descriptor);
  switch (o.kind) {
  case OperationView::Matmul:
    if (descriptor.part(CUDNN_ATTR_OPERATION_MATMUL_DESC)
            ->get<int>(CUDNN_ATTR_MATMUL_COMP_TYPE) != CUDNN_DATA_FLOAT)
      return Problem::bad("a product adds in another type than f32");
    return checkMatmul(o);
  case OperationView::Pointwise:
    return checkPointwise(
        o, *descriptor.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR));
  case OperationView::Reduction:
    if (descriptor.part(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
            ->get<int>(CUDNN_ATTR_REDUCTION_COMP_TYPE) != CUDNN_DATA_FLOAT)
      return Problem::bad("a reduction adds in another type than f32");
    return checkReduction(o);
  case OperationView::Reshape:
    return checkReshape(o);
  }
  return {};
}

/// Tensors are one by one, and read after they are written.
static Problem checkGraph(const Descriptor &graph) {
  std::map<int64_t, const Descriptor *> known;
  std::map<const Descriptor *, bool> written;
  auto meet = [&](const TensorView &t) {
    return known.emplace(t.id, t.descriptor).first->second == t.descriptor;
  };
  for (int64_t i = 0; i < graph.countOf(CUDNN_ATTR_OPERATIONGRAPH_OPS); ++i) {
    const OperationView o(*graph.part(CUDNN_ATTR_OPERATIONGRAPH_OPS, i));
    for (const TensorView &x : o.from) {
      if (!meet(x))
        return Problem::bad("two tensors have one id");
      if (x.isVirtual && !written[x.descriptor])
        return Problem::bad("a virtual tensor is read before it is written");
    }
    if (!meet(o.to[0]))
      return Problem::bad("two tensors have one id");
    if (o.to[0].isNumber || std::exchange(written[o.to[0].descriptor], true))
      return Problem::bad("a tensor is written twice");
  }
  AttentionForm form;
  return readAttention(graph, form);
}

static Problem checkConfiguration(const Descriptor &configuration) {
  const int64_t index = configuration.part(CUDNN_ATTR_ENGINECFG_ENGINE)
                            ->get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  std::map<int, int64_t> knobs;
  for (int64_t i = 0;
       i < configuration.countOf(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES); ++i) {
    const Descriptor &choice =
        *configuration.part(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, i);
    knobs[choice.get<int>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE)] =
        choice.get<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
  }
  const std::map<int, int64_t> ordered = {{CUDNN_KNOB_TYPE_KERNEL_CFG, 31},
                                          {CUDNN_KNOB_TYPE_STAGES, 2}};
  return index == kOrdered && emulatedChip() >= 100 && knobs == ordered
             ? Problem()
             : Problem{CUDNN_STATUS_NOT_SUPPORTED, "there is no such engine"};
}

Problem checkFinal(const Descriptor &descriptor) {
  if (Problem missing = checkMissing(descriptor))
    return missing;
  switch (static_cast<int>(descriptor.type)) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    return checkTensor(descriptor);
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    return checkOperation(descriptor);
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    return checkGraph(descriptor);
  case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    return checkConfiguration(descriptor);
  case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    if (descriptor.countOf(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) !=
        descriptor.countOf(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS))
      return Problem::bad("there are not as many addresses as ids");
  }
  return {};
}

} // namespace weft::emulation
