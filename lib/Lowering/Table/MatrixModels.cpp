//===- MatrixModels.cpp - Records of products, attention, tables ----------===//

#include "RoutineModels.h"

#include "weft/Abi/CpuProducts.h"
#include "weft/Abi/RecordTypes.h"

using namespace mlir;

namespace weft {

template <typename OpT> static int64_t getAccumulate(OpT op) {
  if (op.getFlag())
    return WEFT_ADD_IF_FLAG;
  return op.getAdds() ? WEFT_ADD : WEFT_OVERWRITE;
}

namespace {

static_assert(int(Epilogue::Relu) == WEFT_EPILOGUE_RELU &&
                  int(Epilogue::ReluGrad) == WEFT_EPILOGUE_RELU_GRAD &&
                  int(Epilogue::Gelu) == WEFT_EPILOGUE_GELU &&
                  int(Epilogue::GeluGrad) == WEFT_EPILOGUE_GELU_GRAD,
              "an epilogue is written as its number");

struct GemmModel : RoutineModel<GemmModel, plan::GemmOp, WEFT_GEMM> {
  static FailureOr<WeftGemmRecord> get(plan::GemmOp op) {
    plan::StoredMatrix a = *op.getMatrix(op.getLhs());
    plan::StoredMatrix b = *op.getMatrix(op.getRhs());
    plan::StoredMatrix c = *op.getMatrix(op.getTarget());
    WeftGemmRecord record = {};
    record.batch = c.batch;
    record.m = c.rows;
    record.n = c.columns;
    record.k = op.getTransposeLhs() ? a.rows : a.columns;
    record.transA = op.getTransposeLhs() != a.transposed;
    record.transB = op.getTransposeRhs() != b.transposed;
    record.lda = a.leading;
    record.ldb = b.leading;
    record.ldc = c.leading;
    record.batchStrideA = a.batchStride;
    record.batchStrideB = b.batchStride;
    record.batchStrideC = c.batchStride;
    record.accumulate = getAccumulate(op);
    record.hasBias = op.getBias() != Value();
    record.dtype = getDType(op.getLhs());
    record.dtypeC = getDType(op.getTarget());
    record.epilogue = static_cast<int64_t>(op.getEpilogue());
    record.hasAux = op.getAux() != Value();
    record.hasColumnSum = op.getColumnSum() != Value();
    record.hasSumA = op.getLhsSum() != Value();
    record.hasSumB = op.getRhsSum() != Value();
    record.besideCollectives = op.getBesideCollectives();
    if (std::string wrong = findWrongProduct(record); !wrong.empty())
      return op.emitOpError(wrong);
    return record;
  }
};

} // namespace

static WeftHeadStrides getStrides(Value buffer) {
  plan::Layout layout = plan::Layout::get(getBufferType(buffer));
  return {layout.strides[0], layout.strides[1], layout.strides[2]};
}

template <typename OpT> static WeftAttentionRecord getAttention(OpT op) {
  ArrayRef<int64_t> q = getBufferType(op.getQuery()).getShape();
  ArrayRef<int64_t> k = getBufferType(op.getKey()).getShape();
  WeftAttentionRecord record = {};
  record.batch = q[0];
  record.queries = q[1];
  record.keys = k[1];
  record.heads = q[2];
  record.keyHeads = k[2];
  record.headSize = q[3];
  record.causal = op.getCausal();
  record.opId = static_cast<int64_t>(op.getOpId());
  record.dtype = getDType(op.getQuery());
  record.scale = op.getScale().convertToDouble();
  record.dropout = op.getDropout().convertToDouble();
  record.q = getStrides(op.getQuery());
  record.k = getStrides(op.getKey());
  record.v = getStrides(op.getValue());
  record.out = getStrides(op.getOut());
  record.hasBits = op.getBits() != Value();
  return record;
}

/// Appends the variant of the record, if the command has any of its rules.
template <typename OpT> static void addVariant(OpT op, RecordWords &words) {
  WeftAttentionVariant variant = {};
  variant.window = static_cast<int64_t>(op.getWindow().value_or(0));
  variant.hasSegments = op.getSegments() != Value();
  if (std::optional<APFloat> softcap = op.getSoftcap())
    variant.softcap = softcap->convertToDouble();
  if (isVariant(variant))
    append(words, variant);
}

namespace {

/// A model whose record a variant may follow.
template <typename Model, typename OpT, WeftCommandKind Kind>
struct VariantModel : RoutineModel<Model, OpT, Kind> {
  LogicalResult makeRecord(Operation *op, RecordWords &words) const {
    if (failed(RoutineModel<Model, OpT, Kind>::makeRecord(op, words)))
      return failure();
    addVariant(cast<OpT>(op), words);
    return success();
  }
};

struct AttentionModel
    : VariantModel<AttentionModel, plan::AttentionOp, WEFT_ATTENTION> {
  static FailureOr<WeftAttentionRecord> get(plan::AttentionOp op) {
    return getAttention(op);
  }
};

struct AttentionGradModel
    : VariantModel<AttentionGradModel, plan::AttentionGradOp,
                   WEFT_ATTENTION_GRAD> {
  static FailureOr<WeftAttentionGradRecord> get(plan::AttentionGradOp op) {
    WeftAttentionGradRecord record = {};
    record.forward = getAttention(op);
    record.dout = getStrides(op.getGrad());
    record.dq = getStrides(op.getGradQuery());
    record.dk = getStrides(op.getGradKey());
    record.dv = getStrides(op.getGradValue());
    return record;
  }
};

struct EmbeddingModel
    : RoutineModel<EmbeddingModel, plan::EmbeddingOp, WEFT_EMBEDDING> {
  static FailureOr<WeftEmbeddingRecord> get(plan::EmbeddingOp op) {
    MemRefType table = getBufferType(op.getTable());
    return WeftEmbeddingRecord{getCount(op.getIds()), table.getDimSize(0),
                               table.getDimSize(1), getDType(op.getIds()),
                               getDType(op.getTable())};
  }
};

struct EmbeddingGradModel
    : RoutineModel<EmbeddingGradModel, plan::EmbeddingGradOp,
                   WEFT_EMBEDDING_GRAD> {
  static FailureOr<WeftEmbeddingGradRecord> get(plan::EmbeddingGradOp op) {
    MemRefType table = getBufferType(op.getTarget());
    WeftEmbeddingGradRecord record = {};
    record.count = getCount(op.getIds());
    record.rows = table.getDimSize(0);
    record.columns = table.getDimSize(1);
    record.dtypeIds = getDType(op.getIds());
    record.accumulate = getAccumulate(op);
    record.dtypeOut = getDType(op.getGrad());
    record.dtypeTable = getDType(op.getTarget());
    return record;
  }
};

} // namespace

void attachMatrixModels(MLIRContext *context) {
  plan::GemmOp::attachInterface<GemmModel>(*context);
  plan::AttentionOp::attachInterface<AttentionModel>(*context);
  plan::AttentionGradOp::attachInterface<AttentionGradModel>(*context);
  plan::EmbeddingOp::attachInterface<EmbeddingModel>(*context);
  plan::EmbeddingGradOp::attachInterface<EmbeddingGradModel>(*context);
}

} // namespace weft
