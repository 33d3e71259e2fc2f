// SPDX-License-Identifier: Apache-2.0
// A person decides that an entry costs something else. Nothing is changed: the difference is an entry of its
// own.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/money.h"
#include "base/result.h"
#include "books/books.h"
#include "books/fact.h"

namespace gpupool::ledger {

struct Correction {
  std::int64_t entry = 0;   // that is corrected: a segment, or a disputed entry, which costs nothing before
  std::int64_t number = 0;  // from 1, of the corrections of this entry
  base::Micros before = 0;  // what was charged for it, with earlier corrections
  base::Micros after = 0;
  std::string reason;
  Fact fact;  // of that entry
  bool operator==(const Correction&) const = default;

  std::string key() const { return "correction/" + std::to_string(entry) + "/" + std::to_string(number); }
};

// Canonical JSON: one text for each correction.
std::string to_text(const Correction& correction);
base::Result<Correction> correction_from(const std::string& text);

// From now on the entry of this number costs `amount`: enters the difference. amount: not negative. Fails if
// there is no such entry, if it is no segment and not disputed, or if it costs this much.
base::Result<Entry> correct(Books& books, std::int64_t entry, base::Micros amount, const std::string& reason);

}  // namespace gpupool::ledger

namespace gpupool::base::json {

template <>
struct Schema<ledger::Correction> {
  using T = ledger::Correction;
  static constexpr auto fields =
      std::array{field<&T::entry>("entry"), field<&T::number>("number"), field<&T::before>("before"),
                 field<&T::after>("after"), field<&T::reason>("reason"), field<&T::fact>("fact")};
};

}  // namespace gpupool::base::json
