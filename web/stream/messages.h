// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

// The lines that a tab is sent, as JSON. Bytes that are no UTF-8 become U+FFFD. Pure.
namespace gpupool::web {

struct Row {
  std::string key;
  std::vector<std::string> cells;
};

// reset: these columns and no rows; what was sent before counts no more.
std::string columns_message(const std::string& id, const std::vector<std::string>& columns);
std::string rows_message(const std::string& id, const std::vector<Row>& rows);
// reset: what was sent before counts no more. objects: key and JSON of each.
std::string objects_message(const std::string& id,
                            const std::vector<std::pair<std::string, std::string>>& objects, bool reset);
// complete: everything that there is was sent.
std::string complete_message(const std::string& id);
std::string gone_message(const std::string& id, const std::string& key);
std::string error_message(const std::string& id, const base::Error& error);
std::string ping_message();

struct ShownLine {
  std::int64_t rank;
  std::int64_t unix_ms;
  std::string_view text;
};
std::string log_begin_message(const std::string& id);
std::string lines_message(const std::string& id, const std::vector<ShownLine>& lines);
// problem: some lines cannot be shown.
std::string note_message(const std::string& id, std::string_view text, bool problem);
std::string log_end_message(const std::string& id);

// The object without what nobody reads here and what is long (managedFields, the last applied text), and its
// key: namespace/name, or name. kParse if it is none.
base::Result<std::pair<std::string, std::string>> shown_object(std::string_view json);

}  // namespace gpupool::web
