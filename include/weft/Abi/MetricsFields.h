//===- MetricsFields.h - Fields of a metrics line ---------------*- C++ -*-===//
//
// The fields that lines of a metrics file have for every model. A metric of a
// model has another name, so that tools can show it beside them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_METRICSFIELDS_H
#define WEFT_ABI_METRICSFIELDS_H

#include <string_view>

namespace weft {

inline constexpr std::string_view kMetricsFields[] = {
    "step",        "loss",
    "losses",      "metrics",
    "lr",          "grad_norm",
    "skipped",     "loss_scale",
    "found_inf",   "tokens_per_s",
    "step_ms",     "data_ms",
    "compute_ms",  "comm_ms",
    "comm_bytes",  "lag_ms",
    "val_loss",    "slowest_rank",
    "mem_bytes",   "perplexity",
    "val_losses",  "val_rows",
    "val_metrics", "val_sample",
    "sample",      "val_rows_available"};

/// Whether lines of every metrics file have a field of that name.
inline bool isMetricsField(std::string_view name) {
  for (std::string_view field : kMetricsFields)
    if (field == name)
      return true;
  return false;
}

} // namespace weft

#endif // WEFT_ABI_METRICSFIELDS_H
