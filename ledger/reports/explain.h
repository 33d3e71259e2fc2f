// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "books/books.h"

namespace gpupool::ledger {

// How the amount of each segment of a job comes about, with what was corrected. job: "namespace/name" or a
// UID.
base::Result<std::string> explain(Books& books, const std::string& job);

}  // namespace gpupool::ledger
