// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/expected.h"

namespace gpupool::launcher {

// A decimal number and nothing else.
std::optional<int> parse_number(std::string_view text);

// "<flag>: <problem>".
std::string flag_error(std::string_view flag, std::string_view problem);

struct OptionName {
  std::string_view flag;
  bool is_switch = false;  // the flag may stand without a value
};

// The text given for each flag; of a flag given twice, the last one. Not thread safe.
class OptionValues {
 public:
  explicit OptionValues(std::vector<OptionName> names) : names_(std::move(names)) {}

  // Consumes flags up to and including "--"; returns the index of the first argument after it.
  Expected<std::size_t> read_flags(const std::vector<std::string>& arguments);

  [[nodiscard]] bool has(std::string_view flag) const { return values_.contains(flag); }
  [[nodiscard]] std::string text(std::string_view flag, std::string_view otherwise) const;
  [[nodiscard]] Expected<int> number(std::string_view flag, int otherwise, int low, int high) const;
  [[nodiscard]] Expected<bool> boolean(std::string_view flag) const;

 private:
  [[nodiscard]] const OptionName* find(std::string_view flag) const;

  std::vector<OptionName> names_;
  std::map<std::string_view, std::string> values_;
};

// The text given for `flag` before "--", whatever is wrong with the other arguments.
std::optional<std::string> find_flag(const std::vector<std::string>& arguments, std::string_view flag);

}  // namespace gpupool::launcher
