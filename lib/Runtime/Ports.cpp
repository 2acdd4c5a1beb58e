//===- Ports.cpp - Scalars in and out of a program ------------------------===//

#include "weft/Runtime/Ports.h"

#include "weft/Formats/Half.h"
#include "weft/Runtime/DTypes.h"
#include "weft/Runtime/Executor.h"

#include <cstring>

using namespace weft;

template <typename T> static T load(const void *address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <typename T>
static void store(const WeftContext &context, const WeftPort &port,
                  int64_t index, T value) {
  std::memcpy(static_cast<char *>(context.data(port)) +
                  index * int64_t(sizeof(T)),
              &value, sizeof(T));
}

double weft::loadNumber(const void *address, int32_t dtype) {
  switch (dtype) {
  case WEFT_F64:
    return load<double>(address);
  case WEFT_F16:
    return halfToFloat(load<uint16_t>(address));
  case WEFT_BF16:
    return bf16ToFloat(load<uint16_t>(address));
  case WEFT_I1:
    return load<uint8_t>(address);
  case WEFT_I32:
    return load<int32_t>(address);
  case WEFT_I64:
    return double(load<int64_t>(address));
  default:
    return load<float>(address);
  }
}

double weft::readNumber(const WeftContext &context, const WeftPort &port,
                        int64_t index) {
  return loadNumber(static_cast<const char *>(context.data(port)) +
                        index * dtypeBytes(port.dtype),
                    port.dtype);
}

void weft::writeNumber(const WeftContext &context, const WeftPort &port,
                       double value, int64_t index) {
  switch (port.dtype) {
  case WEFT_F64:
    return store<double>(context, port, index, value);
  case WEFT_F16:
    return store<uint16_t>(context, port, index, floatToHalf(float(value)));
  case WEFT_BF16:
    return store<uint16_t>(context, port, index, floatToBf16(float(value)));
  case WEFT_F32:
    return store<float>(context, port, index, float(value));
  default:
    return writeInteger(context, port, int64_t(value), index);
  }
}

void weft::writeInteger(const WeftContext &context, const WeftPort &port,
                        int64_t value, int64_t index) {
  switch (port.dtype) {
  case WEFT_I1:
    return store<uint8_t>(context, port, index, value != 0);
  case WEFT_I32:
    return store<int32_t>(context, port, index, int32_t(value));
  case WEFT_I64:
    return store<int64_t>(context, port, index, value);
  default:
    return writeNumber(context, port, double(value), index);
  }
}

void weft::setInput(const WeftContext &context, const WeftProgram &program,
                    const char *name, double value) {
  if (const WeftPort *port = WeftContext::findInput(program, name))
    writeNumber(context, *port, value);
}

std::vector<WeftPort> weft::dataInputs(const WeftProgram &program) {
  std::vector<WeftPort> ports;
  for (int32_t i = 0; i < program.numInputs; ++i) {
    std::string name = program.inputs[i].name;
    if (name != "loss_seed" && name != "accumulate" && name != "rng")
      ports.push_back(program.inputs[i]);
  }
  return ports;
}

Status weft::runChecked(WeftContext &context, const WeftProgram &program) {
  if (runProgram(context, program))
    return Status::success();
  Error error(ExitCode(context.error()), std::string("program ") +
                                             program.name + ": " +
                                             context.message());
  context.clearError();
  return error;
}
