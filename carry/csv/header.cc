// SPDX-License-Identifier: Apache-2.0
#include "csv/header.h"

#include <unordered_map>

namespace gpupool::carry::csv {

Outcome<std::vector<std::string>> read_header(RowReader& rows, const std::string& file) {
  const auto status = rows.next();
  if (status == RowStatus::kFailed) return tl::unexpected(rows.failure());
  if (status == RowStatus::kEnd)
    return failed(FailureKind::kInvalid, file + ": is empty, and a header is wanted");
  const auto refuse = [&](const std::string& why) {
    return failed(FailureKind::kInvalid, file + ": line " + std::to_string(rows.line()) + ": " + why);
  };
  if (rows.field_count() > kMaxColumns)
    return refuse("the header has " + std::to_string(rows.field_count()) + " columns, more than " +
                  std::to_string(kMaxColumns));
  if (rows.malformed()) return refuse("the header has text after a closing quote");
  std::vector<std::string> names;
  names.reserve(rows.field_count());
  std::string scratch;
  for (const auto& field : rows.fields()) names.emplace_back(field.text(scratch));
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) return refuse("column " + std::to_string(i + 1) + " has no name in the header");
    const auto [other, fresh] = seen.emplace(names[i], i);
    if (!fresh)
      return refuse("columns " + std::to_string(other->second + 1) + " and " + std::to_string(i + 1) +
                    " are both called " + names[i]);
  }
  return names;
}

}  // namespace gpupool::carry::csv
