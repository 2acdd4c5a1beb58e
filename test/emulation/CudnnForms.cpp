//===- CudnnForms.cpp - Graphs that are attention -------------------------===//
//
// The real library knows attention by the form of the graph. These are the
// forms that cudnn-frontend 1.32 gives it, one operation a line, and nothing
// else is taken: m is a tensor in memory, n a number, v a virtual one, counted
// as they are met. Lines with ? belong to causal attention, with * to heads
// that share keys, with ~ to gradients that are added up in any order; ! and =
// say which line takes the place of the last two.
//
//===----------------------------------------------------------------------===//

#include "CudnnObjects.h"

#include <cstdlib>
#include <sstream>

namespace weft::emulation {

static const char kForward[] = R"(
  matmul q:low k:low -> products:f32
  mul products:f32 #scale:f32 -> scaled:f32
? index2 scaled:f32 -> row:i32
? index3 scaled:f32 -> column:i32
? ge row:i32 column:i32 -> sees:bool
? select scaled:f32 #masked:f32 sees:bool -> scores:f32
  max scores:f32 -> most:f32
  sub scores:f32 most:f32 -> shifted:f32
  exp shifted:f32 -> powers:f32
  sum powers:f32 -> total:f32
  log total:f32 -> logarithm:f32
  add most:f32 logarithm:f32 -> statistics:f32
  div powers:f32 total:f32 -> p:low
  matmul p:low v:low -> out:low
)";

static const char kBackward[] = R"(
  mul dout:low out:low -> both:f32
  sum both:f32 -> sums:f32
  mul sums:f32 #one:f32 -> rowsums:f32
  matmul q:low k:low -> products:f32
  mul products:f32 #scale:f32 -> scaled:f32
  sub scaled:f32 statistics:f32 -> shifted:f32
? index2 shifted:f32 -> row:i32
? index3 shifted:f32 -> column:i32
? ge row:i32 column:i32 -> sees:bool
? select shifted:f32 #masked:f32 sees:bool -> scores:f32
  exp scores:f32 -> p:f32
  reshape p:f32 -> turned:low
* matmul turned:low dout:low -> dvs:low
* sum dvs:low -> dv:low
! matmul turned:low dout:low -> dv:low
  matmul dout:low v:low -> dp:f32
  sub dp:f32 rowsums:f32 -> difference:f32
  mul difference:f32 p:f32 -> unscaled:f32
  mul unscaled:f32 #scale:f32 -> ds:f32
  reshape ds:f32 -> turnedds:low
* matmul turnedds:low q:low -> dks:low
* sum dks:low -> dk:low
! matmul turnedds:low q:low -> dk:low
  reshape k:low -> straight:f32
~ matmul ds:f32 straight:f32 -> dqsums:f32
~ identity dqsums:f32 -> dq:low
= matmul ds:f32 straight:f32 -> dq:low
)";

namespace {
/// A form of attention, and which of its lines a graph has.
struct FormChoice {
  bool isGradient, isCausal, sharesKeys, hasAnyOrder;

  /// The choice with a number below 16.
  static FormChoice of(int number) {
    return {bool(number & 1), bool(number & 2), bool(number & 4),
            bool(number & 8)};
  }
  const char *text() const { return isGradient ? kBackward : kForward; }
  bool takes(const std::string &line) const {
    switch (line.empty() ? '\0' : line[0]) {
    case '\0':
      return false;
    case '?':
      return isCausal;
    case '*':
      return sharesKeys;
    case '!':
      return !sharesKeys;
    case '~':
      return hasAnyOrder;
    case '=':
      return !hasAnyOrder;
    }
    return true;
  }
};
} // namespace

/// Which of them are in memory.
static const char *const kPlaced[] = {"q",          "k",       "v",     "out",
                                      "statistics", "dout",    "dq",    "dk",
                                      "dv",         "rowsums", "dqsums"};

static bool isPlaced(const std::string &name) {
  for (const char *placed : kPlaced)
    if (name == placed)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Graphs as text
//===----------------------------------------------------------------------===//

static const char *nameOf(const OperationView &o) {
  switch (o.kind) {
  case OperationView::Matmul:
    return "matmul";
  case OperationView::Reshape:
    return "reshape";
  case OperationView::Reduction:
    return o.mode == CUDNN_REDUCE_TENSOR_MAX   ? "max"
           : o.mode == CUDNN_REDUCE_TENSOR_ADD ? "sum"
                                               : "reduction";
  case OperationView::Pointwise:
    break;
  }
  switch (o.mode) {
  case CUDNN_POINTWISE_ADD:
    return "add";
  case CUDNN_POINTWISE_MUL:
    return "mul";
  case CUDNN_POINTWISE_SUB:
    return "sub";
  case CUDNN_POINTWISE_DIV:
    return "div";
  case CUDNN_POINTWISE_EXP:
    return "exp";
  case CUDNN_POINTWISE_LOG:
    return "log";
  case CUDNN_POINTWISE_CMP_GE:
    return "ge";
  case CUDNN_POINTWISE_BINARY_SELECT:
    return "select";
  case CUDNN_POINTWISE_GEN_INDEX:
    return o.axis == 2 ? "index2" : "index3";
  case CUDNN_POINTWISE_IDENTITY:
    return "identity";
  }
  return "pointwise";
}

static const char *typeOf(const TensorView &t) {
  return t.isLow()                      ? "low"
         : t.type == CUDNN_DATA_FLOAT   ? "f32"
         : t.type == CUDNN_DATA_INT32   ? "i32"
         : t.type == CUDNN_DATA_BOOLEAN ? "bool"
                                        : "other";
}

namespace {
/// Counts tensors as they are met.
class Counter {
public:
  size_t number(const std::string &key) {
    return numbers.emplace(key, numbers.size()).first->second;
  }

private:
  std::map<std::string, size_t> numbers;
};
} // namespace

static std::vector<std::string> linesOf(const Descriptor &graph) {
  std::vector<std::string> lines;
  Counter counter;
  auto say = [&](const TensorView &t) {
    return std::string(t.isNumber    ? " n"
                       : t.isVirtual ? " v"
                                     : " m") +
           std::to_string(counter.number(std::to_string(t.id))) + ":" +
           typeOf(t);
  };
  for (int64_t i = 0; i < graph.countOf(CUDNN_ATTR_OPERATIONGRAPH_OPS); ++i) {
    const OperationView o(*graph.part(CUDNN_ATTR_OPERATIONGRAPH_OPS, i));
    std::string line = nameOf(o);
    for (const TensorView &x : o.from)
      line += say(x);
    lines.push_back(line + " ->" + say(o.to[0]));
  }
  return lines;
}

/// The lines of a form, with the tensors counted.
static std::vector<std::string> linesOf(const FormChoice &form) {
  std::vector<std::string> lines;
  Counter counter;
  std::istringstream text(form.text());
  for (std::string line; std::getline(text, line);) {
    if (!form.takes(line))
      continue;
    std::istringstream words(line.substr(2));
    std::string made, word;
    words >> made;
    while (words >> word) {
      const size_t colon = word.find(':');
      std::string name = word.substr(0, colon);
      if (colon == std::string::npos) {
        made += " " + word;
        continue;
      }
      // Without a mask, the operation before the mask gives the scores.
      if (name == "scores" && !form.isCausal)
        name = form.isGradient ? "shifted" : "scaled";
      const char kind = name[0] == '#' ? 'n' : isPlaced(name) ? 'm' : 'v';
      made += std::string(" ") + kind + std::to_string(counter.number(name)) +
              word.substr(colon);
    }
    lines.push_back(made);
  }
  return lines;
}

std::string describeGraph(const Descriptor &graph) {
  std::string text;
  for (const std::string &line : linesOf(graph))
    text += "  " + line + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Tensors of attention
//===----------------------------------------------------------------------===//

namespace {
/// The tensors in memory of a graph that has a form, by their names in it.
class Named {
public:
  Named(const Descriptor &graph, const FormChoice &form) {
    std::istringstream text(form.text());
    int64_t i = 0;
    for (std::string line; std::getline(text, line);) {
      if (!form.takes(line))
        continue;
      const OperationView o(*graph.part(CUDNN_ATTR_OPERATIONGRAPH_OPS, i++));
      std::istringstream words(line.substr(2));
      std::string word;
      words >> word;
      size_t operand = 0;
      while (words >> word && word != "->")
        add(word, o.from[operand++]);
      words >> word;
      add(word, o.to[0]);
    }
  }
  const TensorView &operator[](const std::string &name) const {
    return all.at(name);
  }
  bool has(const std::string &name) const { return all.count(name) != 0; }

private:
  void add(const std::string &word, const TensorView &t) {
    all.emplace(word.substr(0, word.find(':')), t);
  }
  std::map<std::string, TensorView> all;
};
} // namespace

static Problem checkPlace(const char *name, const TensorView &t,
                          const Sizes &sizes, bool isTurned) {
  const std::string what = std::string("tensor ") + name;
  if (t.sizes != sizes)
    return Problem::bad(what + " has other sizes");
  const int inner = isTurned ? 2 : 3, outer = isTurned ? 3 : 2;
  if (t.strides[inner] != 1)
    return Problem::bad(what + " has elements apart");
  for (int i : {0, 1, outer})
    if (t.strides[i] % 8 != 0)
      return Problem::bad(what + " has rows that are not aligned");
  return {};
}

static Problem checkRows(const char *name, const TensorView &t,
                         const AttentionForm &f) {
  const bool isRight = t.sizes == Sizes{f.batch, f.heads, f.queries, 1} &&
                       t.strides == Sizes{f.heads * f.queries, f.queries, 1, 1};
  return isRight ? Problem()
                 : Problem::bad(std::string("tensor ") + name +
                                " is not one number for each row");
}

/// Sizes and strides of everything in memory.
static Problem checkPlaces(const Named &named, const AttentionForm &f) {
  const Sizes rows = {f.batch, f.heads, f.queries, f.size},
              keys = {f.batch, f.keyHeads, f.keys, f.size},
              turned = {f.batch, f.keyHeads, f.size, f.keys};
  for (const char *name : {"q", "out", "dout", "dq", "dqsums"})
    if (named.has(name))
      if (Problem p = checkPlace(name, named[name], rows, false))
        return p;
  for (const char *name : {"k", "v", "dk", "dv"}) {
    if (!named.has(name))
      continue;
    const bool isTurned = name[1] == 0 && (name[0] == 'k' || f.isGradient);
    if (Problem p =
            checkPlace(name, named[name], isTurned ? turned : keys, isTurned))
      return p;
  }
  for (const char *name : {"statistics", "rowsums"})
    if (named.has(name))
      if (Problem p = checkRows(name, named[name], f))
        return p;
  const cudnnDataType_t type = named["q"].type;
  for (const char *name : {"k", "v", "out", "dout", "dq", "dk", "dv"})
    if (named.has(name) && named[name].type != type)
      return Problem::bad("heads have several types");
  const int64_t most = emulatedChip() / 10 == 9 ? 256 : 128;
  if (f.size % 8 != 0 || f.size > most || (f.isCausal && f.queries != f.keys))
    return {CUDNN_STATUS_NOT_SUPPORTED, "no engine has such sizes"};
  return {};
}

Problem readAttention(const Descriptor &graph, AttentionForm &form) {
  const std::vector<std::string> lines = linesOf(graph);
  for (int variant = 0; variant < 16; ++variant) {
    const FormChoice wanted = FormChoice::of(variant);
    if (linesOf(wanted) != lines)
      continue;
    const Named named(graph, wanted);
    const Sizes &q = named["q"].sizes, &k = named["k"].sizes;
    form.isGradient = wanted.isGradient;
    form.isCausal = wanted.isCausal;
    form.hasAnyOrder = wanted.isGradient && wanted.hasAnyOrder;
    form.batch = q[0], form.heads = q[1], form.queries = q[2];
    form.size = q[3], form.keyHeads = k[1], form.keys = k[3];
    form.scale = named["#scale"].id;
    form.masked = wanted.isCausal ? named["#masked"].id : -1;
    form.one = wanted.isGradient ? named["#one"].id : -1;
    return checkPlaces(named, form);
  }
  return {CUDNN_STATUS_NOT_SUPPORTED,
          "no engine knows the graph\n" + describeGraph(graph)};
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

int emulatedChip() {
  const char *text = std::getenv("WEFT_EMULATION_CHIP");
  return text ? std::atoi(text + 3) : 90;
}

/// As plans of cuDNN 9.19 say.
int64_t engineBytes(const AttentionForm &f) {
  if (const char *text = std::getenv("WEFT_EMULATION_CUDNN_WORKSPACE"))
    return std::atoll(text);
  if (!f.isGradient)
    return 256;
  const int chip = emulatedChip();
  const int64_t queries = (f.queries + 63) / 64 * 64,
                keys = (f.keys + 127) / 128 * 128;
  int64_t bytes = 256;
  if (chip < 100 && !f.hasAnyOrder)
    bytes += f.batch * f.heads * queries * keys * 2;
  if (chip < 90 && f.hasAnyOrder)
    bytes += f.batch * f.heads * ((f.queries + 7) / 8 * 8) * f.size * 4;
  if (f.keyHeads != f.heads) {
    const int64_t one =
        f.batch * f.heads * f.keys * f.size * (chip < 100 ? 2 : 4);
    bytes += 2 * ((one + 127) / 128 * 128);
  }
  return bytes;
}

} // namespace weft::emulation
