//===- Main.cpp - main() of a compiled program ----------------------------===//

#include "weft/Runtime/Entry.h"

/// Defined by the object that the compiler generated.
extern "C" const WeftExecutable weft_executable;

int main(int argc, char **argv) {
  return weft::weftMain(weft_executable, argc, argv);
}
