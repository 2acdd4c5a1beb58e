//===- FamilyReader.h - A config.json becomes a DecoderSpec -----*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_FAMILYREADER_H
#define WEFT_LIB_FRONTEND_FAMILYREADER_H

#include "ConfigFields.h"
#include "FamilyTable.h"

namespace weft {

/// Reads the fields of a family; errors are kept in `fields`.
DecoderSpec readFamily(const Family &family, ConfigFields &fields);

/// Rotary positions, after the sizes.
void readRope(const Family &family, ConfigFields &fields, DecoderSpec &spec);

/// Fills `spec.layers`, after the sizes.
void readLayers(const Family &family, ConfigFields &fields, DecoderSpec &spec);

/// The activation function that a field names; an unknown one is an error.
Activation readActivation(ConfigFields &fields, llvm::StringRef name,
                          llvm::StringRef missing);

/// Fields without effect on training, for all families and for this one.
std::vector<llvm::StringRef> harmlessFields(const Family &family);

/// The family that `model_type` names, or null after an error, which names the
/// nearest one. `config` is the file's object.
const Family *findFamily(ConfigFields &fields, const Json &config,
                         const std::string &file, mlir::MLIRContext &context);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_FAMILYREADER_H
