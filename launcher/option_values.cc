// SPDX-License-Identifier: Apache-2.0
#include "launcher/option_values.h"

#include <charconv>

namespace gpupool::launcher {

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string flag_error(std::string_view flag, std::string_view problem) {
  std::string message(flag);
  message += ": ";
  message += problem;
  return message;
}

const OptionName* OptionValues::find(std::string_view flag) const {
  for (const OptionName& name : names_) {
    if (name.flag == flag) return &name;
  }
  return nullptr;
}

Expected<std::size_t> OptionValues::read_flags(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return i + 1;
    if (!argument.starts_with("--")) return failure("'" + argument + "': write -- before the command");
    const std::size_t equals = argument.find('=');
    const OptionName* name = find(std::string_view(argument).substr(0, equals));
    if (name == nullptr) return failure("unknown flag " + argument.substr(0, equals));
    if (equals != std::string::npos) {
      values_[name->flag] = argument.substr(equals + 1);
    } else if (name->is_switch) {
      values_[name->flag] = "1";
    } else if (i + 1 < arguments.size() && arguments[i + 1] != "--") {
      values_[name->flag] = arguments[++i];
    } else {
      return failure(flag_error(name->flag, "needs a value"));
    }
  }
  return arguments.size();
}

std::string OptionValues::text(std::string_view flag, std::string_view otherwise) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::string(otherwise) : found->second;
}

Expected<int> OptionValues::number(std::string_view flag, int otherwise, int low, int high) const {
  const auto found = values_.find(flag);
  if (found == values_.end()) return otherwise;
  const std::string& text = found->second;
  const std::optional<int> value = parse_number(text);
  if (!value || *value < low || *value > high) {
    return failure(flag_error(
        flag, "'" + text + "' is not a number from " + std::to_string(low) + " to " + std::to_string(high)));
  }
  return *value;
}

Expected<bool> OptionValues::boolean(std::string_view flag) const {
  const std::string value = text(flag, "0");
  if (value == "1" || value == "true") return true;
  if (value == "0" || value == "false") return false;
  return failure(flag_error(flag, "'" + value + "' is not one of 0, 1, false, true"));
}

std::optional<std::string> find_flag(const std::vector<std::string>& arguments, std::string_view flag) {
  std::optional<std::string> found;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string_view argument = arguments[i];
    if (!argument.starts_with(flag)) continue;
    const std::string_view rest = argument.substr(flag.size());
    if (rest.starts_with('=')) {
      found = rest.substr(1);
    } else if (rest.empty() && i + 1 < arguments.size() && arguments[i + 1] != "--") {
      found = arguments[++i];
    }
  }
  return found;
}

}  // namespace gpupool::launcher
