//===- TcpCollectives.cpp - Collectives of processes that talk over TCP ---===//
//
// Runs under a launcher that sets RANK and WORLD_SIZE. Every rank runs all
// tests, in one order.
//
//===----------------------------------------------------------------------===//

#include "ProcessChecks.h"
#include "weft/Runtime/Collectives/Rendezvous.h"

using namespace weft;

int main(int argc, char **argv) {
  auto rendezvous = findRendezvous();
  if (!rendezvous)
    return rendezvous.error().report();
  auto process = joinTcp(*rendezvous, Transport::kDefaultTimeout);
  if (!process)
    return process.error().report();
  return runChecks(**process, "Tcp", argc, argv);
}
