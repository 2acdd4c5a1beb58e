//===- ConvertToF64.cpp - f32 tensors as f64 ------------------------------===//

#include "weft/Autodiff/FiniteDifference.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

void weft::convertToF64(ModuleOp module) {
  Type f64 = Float64Type::get(module.getContext());
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Type type) -> std::optional<Type> {
    return type.isF32() ? std::optional<Type>(f64) : std::nullopt;
  });
  replacer.addReplacement(
      [&](DenseFPElementsAttr elements)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!elements.getElementType().isF32())
          return std::nullopt;
        auto widen = [](const APFloat &number) {
          return APFloat(static_cast<double>(number.convertToFloat()))
              .bitcastToAPInt();
        };
        return std::make_pair(Attribute(elements.mapValues(f64, widen)),
                              WalkResult::skip());
      });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}
