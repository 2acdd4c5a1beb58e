//===- MpiMain.cpp - main() of a compiled program with a mesh -------------===//

#include "weft/Runtime/Execute/Unpack.h"
#include "weft/Runtime/Run/Entry.h"

/// Defined by the object that the compiler generated.
extern "C" const WeftTables weft_tables;

int main(int argc, char **argv) {
  weft::beginProcess();
  weft::UnpackedTables tables(weft_tables);
  return weft::weftMain(tables.executable(), argc, argv, weft::joinMpi);
}
