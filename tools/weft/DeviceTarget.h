//===- DeviceTarget.h - --target=cuda, without a chip -----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_DEVICETARGET_H
#define WEFT_TOOLS_WEFT_DEVICETARGET_H

#include "weft/Base/Flags.h"

namespace weft {

/// The flags with the chip that `--target=cuda` means: the chip of --device, or
/// of the first CUDA device of this machine (CUDA_VISIBLE_DEVICES). Exit 9 if
/// there is none, or none that weft makes code for. Other targets stay.
Expected<FlagValues> withDeviceTarget(const FlagValues &flags);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_DEVICETARGET_H
