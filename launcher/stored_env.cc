// SPDX-License-Identifier: Apache-2.0
#include "launcher/stored_env.h"

#include "launcher/file_io.h"

namespace gpupool::launcher {
namespace {

constexpr char kFile[] = "/variables";
constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;

}  // namespace

Expected<void> store_env(const std::string& state_dir, const EnvironmentEntries& entries) {
  std::string text;  // as in /proc/PID/environ
  for (const auto& [name, value] : entries) {
    text += name;
    text += '=';
    text += value;
    text += '\0';
  }
  return replace_file(state_dir + kFile, text, Durable::kNo);
}

std::optional<EnvironmentEntries> read_env(const std::string& state_dir) {
  const std::optional<std::string> text = read_file(state_dir + kFile, kMaxBytes);
  if (!text) return std::nullopt;
  EnvironmentEntries entries;
  for (std::size_t from = 0; from < text->size();) {
    const std::size_t end = text->find('\0', from);
    const std::size_t equals = text->find('=', from);
    if (end == std::string::npos || equals >= end) break;
    entries.emplace_back(text->substr(from, equals - from), text->substr(equals + 1, end - equals - 1));
    from = end + 1;
  }
  return entries;
}

}  // namespace gpupool::launcher
