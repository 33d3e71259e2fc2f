// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "books/books.h"

namespace gpupool::ledger {

// What is wrong in the books. seq: the entry; 0: not of one entry.
struct Finding {
  std::int64_t seq = 0;
  std::string what;
};

struct Verdict {
  std::vector<Finding> findings;  // empty: the books are right; at most kMostFindings
  std::int64_t entries = 0;
  std::int64_t disputed = 0;
  Head head;
};

inline constexpr std::size_t kMostFindings = 100;

// Reads all books and works everything out anew: the chain, the numbers of the entries, every posting and
// every hold, and that postings add up to 0. known: an earlier head, for example a published one; without it,
// entries that were cut off at the end cannot be noticed.
base::Result<Verdict> verify(Books& books, const std::optional<Head>& known);

}  // namespace gpupool::ledger
