//===- HandWrittenTwins.cpp - The hand-written kernels as a library -------===//
//
// The kernels of kernels/cuda, compiled for this machine, each with an entry in
// the section weft_twin_list (DeviceHost.h): the twins of the cubins of the
// build.
//
//===----------------------------------------------------------------------===//

#include "Emulation.h"

extern "C" {
__attribute__((
    visibility("hidden"))) extern const WeftTwin __start_weft_twin_list[],
    __stop_weft_twin_list[];

extern const WeftTwins weft_twins;
const WeftTwins weft_twins = {
    WEFT_TWINS_VERSION,
    /*isChecked=*/1,
    /*chip=*/"",
    /*digest=*/"",
    WEFT_CUBINS,
    static_cast<int32_t>(__stop_weft_twin_list - __start_weft_twin_list),
    __start_weft_twin_list,
    /*sharedBegin=*/nullptr,
    /*sharedEnd=*/nullptr,
};
}
