#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/expected.h"
#include "launcher/options.h"

namespace gpupool::launcher {

// A decimal number and nothing else.
std::optional<int> parse_number(std::string_view text);

struct OptionName {
  std::string_view flag;
  std::string_view variable;
  bool is_switch = false;  // the flag may stand without a value
};

// The text given for each option and where it came from. Not thread safe.
class OptionValues {
 public:
  explicit OptionValues(std::vector<OptionName> names) : names_(std::move(names)) {}

  void read_environment(const GetEnv& get_env);

  // Consumes flags up to and including "--"; returns the index of the first argument after it.
  Expected<std::size_t> read_flags(const std::vector<std::string>& arguments);

  [[nodiscard]] bool has(std::string_view flag) const { return values_.contains(flag); }
  [[nodiscard]] std::string text(std::string_view flag, std::string_view otherwise) const;
  [[nodiscard]] Expected<int> number(std::string_view flag, int otherwise, int low, int high) const;
  [[nodiscard]] Expected<bool> boolean(std::string_view flag) const;

  // "<flag or variable that gave the value>: <problem>".
  [[nodiscard]] std::string error(std::string_view flag, std::string_view problem) const;

 private:
  struct Value {
    std::string text;
    std::string source;
  };

  [[nodiscard]] const OptionName* find(std::string_view flag) const;

  std::vector<OptionName> names_;
  std::map<std::string_view, Value> values_;
};

}  // namespace gpupool::launcher
