//===- MpiCollectives.cpp - Collectives of processes of MPI ---------------===//
//
// Runs under mpirun. Every rank runs all tests, in one order.
//
//===----------------------------------------------------------------------===//

#include "ProcessChecks.h"
#include "weft/Runtime/Collectives/Processes.h"

using namespace weft;

int main(int argc, char **argv) {
  auto process = joinMpi();
  if (!process)
    return process.error().report();
  return runChecks(**process, "Mpi", argc, argv);
}
