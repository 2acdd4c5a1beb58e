//===- ProgramPorts.h - Inputs and outputs of programs ----------*- C++ -*-===//
//
// The inputs that the runtime fills and the outputs that it reads, by the kind
// of the program. The compiler rejects a plan, and the runtime a program, with
// other ports. Data, terms of the loss, and weight decays of one optimizer are
// additional ports; the model or the optimizer names them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_PROGRAMPORTS_H
#define WEFT_FORMATS_PROGRAMPORTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct PortRule {
  const char *kind; // of the program; "" for any
  const char *name;
  const char *type; // of the elements: "f64"
  int64_t size;     // of the one dimension; 0: a scalar
};

/// The kinds of programs that a run knows.
const std::vector<std::string_view> &programKinds();

/// Whether programs of that kind read rows of data.
bool readsData(std::string_view kind);

/// Whether the outputs of programs of that kind have one entry for each row of
/// data, along their first dimension.
bool givesRows(std::string_view kind);

/// The inputs that the host writes, and the outputs that it reads.
const std::vector<PortRule> &inputRules();
const std::vector<PortRule> &outputRules();

/// Whether programs of that kind compute the logits of one position.
bool givesLogits(std::string_view kind);

/// The rule of a port in programs of that kind, or null. An output
/// `found_inf.NAME` has the rule of `found_inf`.
const PortRule *findInputRule(std::string_view kind, std::string_view name);
const PortRule *findOutputRule(std::string_view kind, std::string_view name);

/// Whether the host fills inputs of that name itself, in some kind of program
/// that reads data: no data has it.
bool isFilledByHost(std::string_view name);

/// "'lr', 'beta1' or 'rank'": names in single quotes, for messages; "none" if
/// the list is empty.
std::string spellNames(const std::vector<std::string> &names);
/// The names of the rules for programs of that kind.
std::vector<std::string> namesOfRules(const std::vector<PortRule> &rules,
                                      std::string_view kind);

} // namespace weft

#endif // WEFT_FORMATS_PROGRAMPORTS_H
