//===- Device.cpp - Where a program's memory is ---------------------------===//

#include "weft/Runtime/Devices/Device.h"

weft::Device::~Device() = default;
