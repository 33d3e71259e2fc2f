#include "launcher/option_values.h"

#include <charconv>

namespace gpupool::launcher {

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const OptionName* OptionValues::find(std::string_view flag) const {
  for (const OptionName& name : names_) {
    if (name.flag == flag) return &name;
  }
  return nullptr;
}

void OptionValues::read_environment(const GetEnv& get_env) {
  for (const OptionName& name : names_) {
    const std::string variable(name.variable);
    const char* value = get_env(variable.c_str());
    if (value != nullptr && *value != '\0') values_[name.flag] = Value{value, variable};
  }
}

Expected<std::size_t> OptionValues::read_flags(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return i + 1;
    if (!argument.starts_with("--")) return failure("'" + argument + "': write -- before the command");
    const std::size_t equals = argument.find('=');
    const OptionName* name = find(std::string_view(argument).substr(0, equals));
    if (name == nullptr) return failure("unknown flag " + argument.substr(0, equals));
    const std::string source(name->flag);
    if (equals != std::string::npos) {
      values_[name->flag] = Value{argument.substr(equals + 1), source};
    } else if (name->is_switch) {
      values_[name->flag] = Value{"1", source};
    } else if (i + 1 < arguments.size() && arguments[i + 1] != "--") {
      values_[name->flag] = Value{arguments[++i], source};
    } else {
      return failure(source + ": needs a value");
    }
  }
  return arguments.size();
}

std::string OptionValues::text(std::string_view flag, std::string_view otherwise) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::string(otherwise) : found->second.text;
}

Expected<int> OptionValues::number(std::string_view flag, int otherwise, int low, int high) const {
  const auto found = values_.find(flag);
  if (found == values_.end()) return otherwise;
  const std::string& text = found->second.text;
  const std::optional<int> value = parse_number(text);
  if (!value || *value < low || *value > high) {
    return failure(error(
        flag, "'" + text + "' is not a number from " + std::to_string(low) + " to " + std::to_string(high)));
  }
  return *value;
}

Expected<bool> OptionValues::boolean(std::string_view flag) const {
  const std::string value = text(flag, "0");
  if (value == "1" || value == "true") return true;
  if (value == "0" || value == "false") return false;
  return failure(error(flag, "'" + value + "' is not one of 0, 1, false, true"));
}

std::string OptionValues::error(std::string_view flag, std::string_view problem) const {
  const auto found = values_.find(flag);
  std::string message = found == values_.end() ? std::string(flag) : found->second.source;
  message += ": ";
  message += problem;
  return message;
}

}  // namespace gpupool::launcher
