// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "api/v1alpha1/transfer_report.h"

namespace gpupool::carry {

// Returns the report as one line of at most `max_bytes`. What does not fit is left out: first the messages of
// items, then items from the last to the first, then the end of the message. REQUIRES: max_bytes >= 256.
std::string to_json(api::TransferReport report, std::size_t max_bytes);

}  // namespace gpupool::carry
