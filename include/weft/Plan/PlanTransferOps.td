//===- PlanTransferOps.td - Copies to and from the host ----*- tablegen -*-===//
//
// A target with more than one stream runs asynchronously to the host: copies of
// inputs and outputs are commands, and events order the streams. Few passes
// know these ops, so they have a header of their own (Transfers.h).
//
//===----------------------------------------------------------------------===//

#ifndef PLAN_TRANSFEROPS_TD
#define PLAN_TRANSFEROPS_TD

include "weft/Plan/PlanCommands.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Plan_EventOp : Plan_Op<"event", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A point in a stream that other streams can wait for";
  let description = [{
    All programs share the events of a module, and one stream records each
    event. A later record never covers fewer commands than an earlier one.

    Example: `plan.event @uploaded on 1`.

    Created by: `weft-assign-streams`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$stream);
  let assemblyFormat = "$sym_name `on` $stream attr-dict";
  let hasVerifier = 1;
}

def Plan_RecordOp : Plan_Command<"record", (ins FlatSymbolRefAttr:$event),
    [Plan_Observed, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Records the progress of a stream";
  let description = [{
    From now on the event means that all earlier commands of the stream, also in
    earlier runs, are done. The stream is the event's stream.

    Example: `plan.record @uploaded {stream = 1 : i64}`.

    Created by: `weft-assign-streams`.
  }];
  let assemblyFormat = "$event attr-dict";
}

def Plan_WaitOp : Plan_Command<"wait", (ins FlatSymbolRefAttr:$event),
    [Plan_Observed, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Makes a stream wait for an event";
  let description = [{
    The later commands of the stream, also in later runs, start after the
    event's latest record: the one above in the program, else the one in an
    earlier run of any program. An event that was never recorded does not block.
    The host does not wait.

    Example: `plan.wait @uploaded`.

    Created by: `weft-assign-streams`.
  }];
  let assemblyFormat = "$event attr-dict";
}

def Plan_StagingOp : Plan_Op<"staging", [HasParent<"ProgramOp">]> {
  let summary = "The buffer of a result on its way to the host";
  let description = [{
    In the staging part of the arena, with the inputs that commands upload. No
    transient buffer shares it, and programs use it one after the other.
    Commands of stream 0 may read and write it like any buffer.

    Example: `%r = plan.staging {offset = 4096 : i64} : memref<f32>`.

    Created by: `weft-assign-streams`.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Plan_UploadOp : Plan_Command<"upload",
    (ins Plan_Writes<Variadic<Plan_Buffer>>:$inputs), [Plan_Observed]> {
  let summary = "Copies inputs from the host's block of step inputs";
  let description = [{
    Writes inputs with the data that the host wrote before it started this run.
    The inputs are in the staging part of the arena, and no earlier command
    writes them.

    Example:
    ```mlir
    plan.program "eval" @eval {
      %tokens = plan.input "tokens" : memref<8x128xi32>
      %lr = plan.input "lr" : memref<f32>
      plan.upload %tokens, %lr {stream = 1 : i64} : memref<8x128xi32>, memref<f32>
    }
    ```

    Created by: `weft-assign-streams`.
  }];
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
  let hasVerifier = 1;
}

def Plan_ReadbackOp : Plan_Command<"readback",
    (ins Plan_Reads<Variadic<Plan_Buffer>>:$outputs), [Plan_Observed]> {
  let summary = "Copies outputs to the host's block of step results";
  let description = [{
    Reads buffers of outputs. A program with a readback copies all of its
    outputs.

    Example:
    ```mlir
    plan.program "eval" @eval {
      %loss = plan.staging : memref<f32>
      plan.readback %loss {stream = 2 : i64} : memref<f32>
      plan.output "loss" %loss : memref<f32>
    }
    ```

    Created by: `weft-assign-streams`.
  }];
  let assemblyFormat = "$outputs attr-dict `:` type($outputs)";
  let hasVerifier = 1;
}

#endif // PLAN_TRANSFEROPS_TD
