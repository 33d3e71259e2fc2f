// SPDX-License-Identifier: Apache-2.0
#include "csv/delimiter.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "csv/row_reader.h"

namespace gpupool::carry::csv {
namespace {

constexpr int kRowsTried = 50;

struct Fit {
  int rows = 0;  // with as many fields as the header
  std::size_t fields = 0;
  bool operator<(const Fit& other) const {
    return std::pair(rows, fields) < std::pair(other.rows, other.fields);
  }
};

// A quote that is never closed is a failure later, with the delimiter that was found.
Outcome<Fit> fit_of(const SourceFile& source, char delimiter, const std::stop_token& stop) {
  RowReader rows(source, delimiter, 1, false, stop);
  Fit fit;
  for (int row = 0; row < kRowsTried; ++row) {
    const auto status = rows.next();
    if (status == RowStatus::kFailed && rows.failure().kind != FailureKind::kInvalid)
      return tl::unexpected(rows.failure());
    if (status != RowStatus::kRow) break;
    if (row == 0) fit.fields = rows.field_count();
    if (fit.fields == 1) return Fit{};
    if (rows.field_count() == fit.fields && !rows.malformed()) ++fit.rows;
  }
  return fit;
}

}  // namespace

Outcome<char> find_delimiter(const SourceFile& source, const std::stop_token& stop) {
  char found = ',';
  Fit best;
  for (const char delimiter : std::string_view(",;\t|")) {
    const auto fit = fit_of(source, delimiter, stop);
    if (!fit) return tl::unexpected(fit.error());
    if (best < *fit) {
      best = *fit;
      found = delimiter;
    }
  }
  return found;
}

}  // namespace gpupool::carry::csv
