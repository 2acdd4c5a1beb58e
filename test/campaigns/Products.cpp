//===- Products.cpp - Many products, each against a naive one -------------===//
//
// Answers amx-products.py, which runs it as a child: a product may end the
// process. Reads lines "TYPE TYPE_C TRANS_A TRANS_B M N K" of standard input,
// and writes "ok", or an error, when the product of a line is made.
//
//===----------------------------------------------------------------------===//

#include "GemmCases.h"

#include <cstdio>
#include <iostream>

using namespace weft;

static const char *wrongOf(const Gemm &g) {
  const Floats one = run(g, 1);
  const double bound = 2e-6 * std::sqrt(g.k) + roundingError(g.typeC);
  if (!(largestError(one, reference(g)) < bound))
    return "wrong numbers";
  return sameBits(one, run(g, 2)) ? nullptr : "bits that depend on threads";
}

static int64_t typeOf(const std::string &name) {
  return name == "bf16" ? WEFT_BF16 : name == "f16" ? WEFT_F16 : WEFT_F32;
}

int main() {
  Gemm g;
  for (std::string type, typeC; std::cin >> type >> typeC >> g.transA >>
                                g.transB >> g.m >> g.n >> g.k;) {
    g.type = typeOf(type), g.typeC = typeOf(typeC);
    const char *wrong = wrongOf(g);
    std::puts(wrong ? wrong : "ok");
    std::fflush(stdout);
  }
  return 0;
}
