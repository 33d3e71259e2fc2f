// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/log_line.h"

#include "api/worker_result_format.h"

namespace gpupool::logs {

bool is_repeated_result(std::string_view text) {
  namespace result = api::worker_result;
  if (!text.starts_with(result::kPrintedBy)) return false;
  text.remove_prefix(result::kPrintedBy.size());
  return text.ends_with(result::kRepeats) || text == result::kWasInterrupted;
}

}  // namespace gpupool::logs
