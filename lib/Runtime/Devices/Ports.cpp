//===- Ports.cpp - Scalars in and out of a program ------------------------===//

#include "weft/Runtime/Devices/Ports.h"

#include "weft/Abi/Names.h"
#include "weft/Formats/ProgramPorts.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/Elements.h"

#include <cstring>

using namespace weft;

double weft::loadNumber(const void *address, int32_t dtype) {
  double number = 0.0;
  withElement(dtype, [&](auto element) {
    typename decltype(element)::Bits bits;
    std::memcpy(&bits, address, sizeof bits);
    number = element.number(bits);
  });
  return number;
}

template <typename Number>
static void store(void *address, int32_t dtype, Number value) {
  withElement(dtype, [&](auto element) {
    auto bits = element.make(value);
    std::memcpy(address, &bits, sizeof bits);
  });
}

void weft::storeNumber(void *address, int32_t dtype, double value) {
  store(address, dtype, value);
}

double weft::readNumber(const WeftContext &context, const WeftPort &port,
                        int64_t index) {
  return loadNumber(context.device().outputBytes(port) +
                        index * dtypeBytes(port.dtype),
                    port.dtype);
}

static char *placeOf(const WeftContext &context, const WeftPort &port,
                     int64_t index) {
  return context.device().inputBytes(port) + index * dtypeBytes(port.dtype);
}

void weft::writeNumber(const WeftContext &context, const WeftPort &port,
                       double value, int64_t index) {
  store(placeOf(context, port, index), port.dtype, value);
}

void weft::writeInteger(const WeftContext &context, const WeftPort &port,
                        int64_t value, int64_t index) {
  store(placeOf(context, port, index), port.dtype, value);
}

void weft::setInput(const WeftContext &context, const WeftProgram &program,
                    const char *name, double value) {
  if (const WeftPort *port = WeftContext::findInput(program, name))
    writeNumber(context, *port, value);
}

std::vector<WeftPort> weft::dataInputs(const WeftProgram &program) {
  std::vector<WeftPort> ports;
  for (int32_t i = 0; i < program.numInputs; ++i)
    if (!isFilledByHost(program.inputs[i].name))
      ports.push_back(program.inputs[i]);

  return ports;
}

/// A failure of a command becomes an error.
static Status checkRun(WeftContext &context, const WeftProgram &program,
                       bool isDone) {
  if (isDone)
    return Status::success();
  return context.takeError(std::string("program ") + program.symbol + ": ");
}

/// A program learns its rank if it asks for it.
static void writeRank(const WeftContext &context, const WeftProgram &program) {
  if (const WeftPort *rank = WeftContext::findInput(program, names::kRank))
    writeInteger(context, *rank, context.rank());
}

Status weft::runChecked(WeftContext &context, const WeftProgram &program) {
  writeRank(context, program);
  return checkRun(context, program, context.device().run(context, program));
}

Status weft::startChecked(WeftContext &context, const WeftProgram &program) {
  writeRank(context, program);
  return checkRun(context, program, context.device().start(context, program));
}

Status weft::finishChecked(WeftContext &context, const WeftProgram &program) {
  return checkRun(context, program, context.device().finish(context));
}
