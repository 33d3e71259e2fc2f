// SPDX-License-Identifier: Apache-2.0
#include "settings/load.h"
#include "settings/resource_name.h"
#include "settings/values.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace settings = gpupool::settings;

namespace {

std::optional<std::string> given_or_not(const std::string& line) {
  return line.empty() ? std::nullopt : std::optional(line);
}

}  // namespace

// Values of the plugin's flags and environment variables, a line each; an empty line is a flag not given.
void fuzz_settings_flags(std::string_view input) {
  auto lines = gpupool::fuzz::split(input, '\n');
  lines.resize(6);
  settings::Given given;
  given.resource_name = given_or_not(lines[0]);
  given.policy = given_or_not(lines[1]);
  given.device_split_count = given_or_not(lines[2]);
  given.device_memory_scaling = given_or_not(lines[3]);
  given.device_core_scaling = given_or_not(lines[4]);
  given.mig = given_or_not(lines[5]);
  const auto read = settings::load("", given);
  if (!read) gpupool::fuzz::require_explained(read.error());
  for (const auto& line : lines) {
    const auto name = settings::to_resource_name(line);
    if (name) require(*name == line && line.find('/') != std::string::npos, "a resource has a domain");
    const auto scaling = settings::to_scaling(line);
    if (scaling) require(*scaling > 0 && *scaling <= 100'000, "a factor is above 0 and at most 100");
    const auto number = settings::to_integer(line, -5, 5);
    if (number) require(*number >= -5 && *number <= 5, "a number is in its bounds");
    const auto directory = settings::to_directory(line);
    if (directory) require(directory->starts_with('/'), "a directory is a whole path");
    if (const auto prefix = settings::to_cdi_prefix(line); !prefix)
      gpupool::fuzz::require_explained(prefix.error());
  }
}
