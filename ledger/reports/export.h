// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "books/books.h"

namespace gpupool::ledger {

// All entries after the one of this number, each as one line of JSON, with its hash and its postings: who has
// them all can work out the chain. write: is called once for each line, with its end.
base::Result<void> export_entries(Books& books, std::int64_t after,
                                  const std::function<void(const std::string&)>& write);

}  // namespace gpupool::ledger
