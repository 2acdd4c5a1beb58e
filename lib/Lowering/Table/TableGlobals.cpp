//===- TableGlobals.cpp - Constants of a module of LLVM -------------------===//

#include "TableGlobals.h"

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace weft;

TableGlobals::TableGlobals(llvm::Module &output)
    : output(output), context(output.getContext()),
      pointer(llvm::PointerType::get(context, 0)) {}

llvm::Constant *TableGlobals::int32(int64_t value) {
  return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(context), value);
}

llvm::Constant *TableGlobals::int64(int64_t value) {
  return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), value);
}

llvm::GlobalVariable *TableGlobals::global(Constant *value, StringRef name) {
  return new llvm::GlobalVariable(output, value->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::InternalLinkage, value,
                                  name);
}

llvm::Constant *TableGlobals::bytes(StringRef content, StringRef name) {
  if (content.empty())
    return llvm::ConstantPointerNull::get(pointer);
  llvm::GlobalVariable *made =
      global(llvm::ConstantDataArray::getString(context, content,
                                                /*AddNull=*/false),
             name);
  made->setAlignment(llvm::Align(8));
  return made;
}

llvm::Constant *TableGlobals::function(StringRef name, bool isKernel) {
  llvm::Type *second = pointer;
  if (isKernel)
    second = llvm::Type::getInt64Ty(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, second, second}, false);
  return cast<Constant>(output.getOrInsertFunction(name, type).getCallee());
}

llvm::Constant *TableGlobals::functionArray(const FunctionPool &pool,
                                            StringRef name) {
  if (pool.functions.empty())
    return llvm::ConstantPointerNull::get(pointer);
  auto *type = llvm::ArrayType::get(pointer, pool.functions.size());
  return global(llvm::ConstantArray::get(type, pool.functions), name);
}

llvm::Constant *TableGlobals::image(const DeviceImage &image) {
  llvm::GlobalVariable *code = global(
      llvm::ConstantDataArray::getString(
          context, {image.code.data(), image.code.size()}, /*AddNull=*/false),
      "weft.image");
  code->setSection(".weft." + image.chip);
  code->setAlignment(llvm::Align(16));
  Constant *chip = global(
      llvm::ConstantDataArray::getString(context, image.chip), "weft.chip");
  return llvm::ConstantStruct::getAnon(context,
                                       {chip, code, int64(image.code.size())});
}

llvm::Constant *TableGlobals::images(ArrayRef<DeviceImage> list) {
  if (list.empty())
    return llvm::ConstantPointerNull::get(pointer);
  SmallVector<Constant *> made;
  for (const DeviceImage &each : list)
    made.push_back(image(each));
  auto *type = llvm::ArrayType::get(made.front()->getType(), made.size());
  return global(llvm::ConstantArray::get(type, made), "weft.images");
}

llvm::Constant *TableGlobals::metadata(StringRef json) {
  llvm::GlobalVariable *meta =
      global(llvm::ConstantDataArray::getString(context, json,
                                                /*AddNull=*/false),
             "weft.metadata");
  meta->setSection(".weft.meta");
  meta->setAlignment(llvm::Align(1));
  return meta;
}

void TableGlobals::structure(ArrayRef<Constant *> fields, StringRef name) {
  global(llvm::ConstantStruct::getAnon(context, fields), name)
      ->setLinkage(llvm::GlobalValue::ExternalLinkage);
}
