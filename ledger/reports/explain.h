// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "books/books.h"

namespace gpupool::ledger {

// How the amount of each segment of a job comes about, with what was corrected. job: "namespace/name" or a
// UID. since: Unix seconds: what began to be held before that is left out.
base::Result<std::string> explain(Books& books, const std::string& job, std::int64_t since = 0);

}  // namespace gpupool::ledger
