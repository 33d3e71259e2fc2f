// SPDX-License-Identifier: Apache-2.0
#include "launcher/stored_env.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/unique_fd.h"
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
  const std::string name = state_dir + kFile;
  const std::string temporary = name + ".new";  // renamed, so that nobody reads a part of it
  const base::UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return failure(with_errno("cannot create " + temporary, errno));
  // By descriptor, so that the umask does not matter.
  if (::fchmod(fd.get(), 0644) == 0 && write_all(fd.get(), text) &&
      ::rename(temporary.c_str(), name.c_str()) == 0) {
    return {};
  }
  const int error = errno;
  ::unlink(temporary.c_str());
  return failure(with_errno("cannot store " + name, error));
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
