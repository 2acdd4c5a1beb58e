//===- Main.cpp - main() of a compiled program ----------------------------===//

#include "weft/Runtime/Entry.h"
#include "weft/Runtime/Unpack.h"

/// Defined by the object that the compiler generated.
extern "C" const WeftTables weft_tables;

int main(int argc, char **argv) {
  weft::UnpackedTables tables(weft_tables);
  return weft::weftMain(tables.executable(), argc, argv);
}
