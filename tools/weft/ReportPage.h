//===- ReportPage.h - The page of weft report -------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_REPORTPAGE_H
#define WEFT_TOOLS_WEFT_REPORTPAGE_H

#include "ReportData.h"

namespace weft {

/// Sections of the page; "" for none.
std::string drawCurves(const RunFacts &run);
std::string drawSettings(const RunFacts &run);
/// `program` is null where no --program is given.
std::string drawMemory(const ReportedProgram *program);
std::string drawStep(const ReportedProgram *program);
std::string drawKernels(const ReportedProgram *program);
std::string drawSharding(const ReportedProgram *program);

/// A paragraph that names the flag which records the missing part.
std::string missing(const std::string &what, const std::string &remedy);
/// A field as text; "" if it is absent or null.
std::string reportText(const Json &json, const char *field);

/// A table; the cells are text, and numbers are aligned to the right.
struct HtmlTable {
  std::vector<std::string> titles; // '>' begins the title of a number
  std::vector<std::vector<std::string>> rows;

  std::string str() const;
};

/// The HTML document. It needs no other file and no network.
std::string drawPage(const RunFacts &run, const ReportedProgram *program);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_REPORTPAGE_H
