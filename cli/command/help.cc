// SPDX-License-Identifier: Apache-2.0
#include "command/help.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "screen/plain_text.h"

namespace gpupool::command {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string two_columns(const Rows& rows) {
  std::size_t left = 0;
  for (const auto& [name, text] : rows) left = std::max(left, screen::width(name));
  std::string all;
  for (const auto& [name, text] : rows) {
    all += "  " + name + std::string(left - screen::width(name) + 3, ' ') + text + "\n";
  }
  return all;
}

std::string flag_name(const FlagInfo& flag) {
  std::string name = flag.short_name == 0 ? "    " : std::string("-") + flag.short_name + ", ";
  name += "--" + flag.long_name;
  return flag.value_name.empty() ? name : name + " " + flag.value_name;
}

std::string argument_name(const FlagInfo& argument) {
  const std::string name = argument.long_name + (argument.many ? "..." : "");
  return argument.required ? name : "[" + name + "]";
}

std::string section(const char* title, const Rows& rows) {
  return rows.empty() ? "" : "\n" + std::string(title) + ":\n" + two_columns(rows);
}

}  // namespace

std::string usage_line(const Command::Manual& manual, const Flags& flags) {
  std::string line = "kubectl gpupool " + manual.name;
  for (const FlagInfo& info : flags.all()) {
    if (info.is_argument) line += " " + argument_name(info);
  }
  line += " [flags]";
  if (!manual.trailing.empty()) line += " [-- " + manual.trailing + "]";
  return line;
}

std::string command_help(const Command::Manual& manual, const Flags& flags) {
  Rows arguments;
  Rows own;
  Rows general;
  for (const FlagInfo& info : flags.all()) {
    if (info.is_argument) {
      arguments.emplace_back(argument_name(info), info.help);
    } else {
      (info.general ? general : own).emplace_back(flag_name(info), info.help);
    }
  }
  std::string text = manual.summary + ".\n";
  if (!manual.text.empty()) text += "\n" + manual.text + "\n";
  if (!manual.example.empty()) text += "\nExamples:\n" + manual.example + "\n";
  text += section("Arguments", arguments) + section("Flags", own) + section("Flags of all commands", general);
  return text + "\nUsage:\n  " + usage_line(manual, flags) + "\n";
}

std::string overview(const Registry& registry) {
  std::string text = "Jobs and GPUs of GpuPools, for people.\n";
  std::vector<std::string> groups;
  for (const auto& entry : registry.entries()) {
    if (std::find(groups.begin(), groups.end(), entry.group) == groups.end()) groups.push_back(entry.group);
  }
  for (const std::string& group : groups) {
    Rows rows;
    for (const auto& entry : registry.entries()) {
      const auto manual = entry.command->manual();
      if (entry.group == group && !manual.hidden) rows.emplace_back(manual.name, manual.summary);
    }
    text += section(group.c_str(), rows);
  }
  return text + "\nUsage:\n  kubectl gpupool COMMAND [flags]\n\n" +
         "Use \"kubectl gpupool COMMAND --help\" for more about a command.\n";
}

}  // namespace gpupool::command
