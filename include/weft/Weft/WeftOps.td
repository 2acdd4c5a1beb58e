//===- WeftOps.td - All ops of the weft dialect ------------*- tablegen -*-===//

#ifndef WEFT_OPS_TD
#define WEFT_OPS_TD

include "weft/Weft/WeftStructureOps.td"
include "weft/Weft/WeftRegionOps.td"
include "weft/Weft/WeftElementwiseOps.td"
include "weft/Weft/WeftShapeOps.td"
include "weft/Weft/WeftNeuralOps.td"
include "weft/Weft/WeftLossOps.td"
include "weft/Weft/WeftRandomOps.td"
include "weft/Weft/WeftTrainingOps.td"

#endif // WEFT_OPS_TD
