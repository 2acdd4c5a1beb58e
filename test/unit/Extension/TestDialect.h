//===- TestDialect.h - Ops that weft has never heard of ---------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_EXTENSION_TESTDIALECT_H
#define WEFT_TEST_UNIT_EXTENSION_TESTDIALECT_H

#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

#include "TestDialect.h.inc"

#define GET_OP_CLASSES
#include "TestOps.h.inc"

namespace weft::test {

/// Models and rules of the dialect that a test may leave out or change.
struct Pieces {
  bool rules = true, functions = true, sources = true, routines = true;
  /// Whether ops with a command have a cost.
  bool costs = true;
  /// Whether test.scale_add becomes an op that is no command.
  bool makesNoCommand = false;
  /// Whether the model for the CPU says no name of a routine.
  bool hidesRoutine = false;
  /// The gradient that the rule of test.scale_add gives to its first operand.
  enum Gradient { Right, Missing, OfAnotherType, OfAnotherShape, Failing };
  Gradient gradient = Right;
  /// The formula of test.bare_scale_add: none, of another type, without a value
  /// or failing without a message.
  enum Formula { NoFormula, OtherType, Empty, NoValue, Fails };
  Formula formula = NoFormula;
  /// The workspace that the model for the CPU reports, if any.
  enum { Nothing, HundredPerRow, LessThanNothing } workspace = Nothing;
};

/// Inserts the dialect with those pieces.
void registerTestDialect(mlir::DialectRegistry &registry, const Pieces &pieces);

} // namespace weft::test

#endif // WEFT_TEST_UNIT_EXTENSION_TESTDIALECT_H
