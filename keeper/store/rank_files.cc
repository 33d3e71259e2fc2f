// SPDX-License-Identifier: Apache-2.0
#include "store/rank_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/write_all.h"

namespace gpupool::keeper {
namespace {

constexpr std::string_view kRaw = ".raw";

}  // namespace

std::string log_file(const std::string& folder, std::int64_t rank) {
  return folder + "/" + std::to_string(rank) + ".log";
}

std::string raw_file(const std::string& folder, std::int64_t rank, std::uint64_t position) {
  return folder + "/" + std::to_string(rank) + "." + std::to_string(position) + std::string(kRaw);
}

std::string end_file(const std::string& folder, std::int64_t rank) {
  return folder + "/" + std::to_string(rank) + ".end";
}

std::vector<std::uint64_t> raw_positions(const std::string& folder, std::int64_t rank) {
  const std::string begin = std::to_string(rank) + ".";
  std::vector<std::uint64_t> positions;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(begin) || !name.ends_with(kRaw) || name.size() <= begin.size() + kRaw.size())
      continue;
    std::uint64_t position = 0;
    const char* const first = name.data() + begin.size();
    const char* const last = name.data() + name.size() - kRaw.size();
    if (const auto read = std::from_chars(first, last, position); read.ec == std::errc() && read.ptr == last)
      positions.push_back(position);
  }
  std::ranges::sort(positions);
  return positions;
}

tl::unexpected<base::Error> file_error(const std::string& path) {
  const int error = errno;
  return base::fail(base::ErrorCode::kIo, path + ": " + std::generic_category().message(error));
}

base::Result<std::string> read_at(const base::UniqueFd& file, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t part =
        ::pread(file.get(), bytes.data() + got, size - got, static_cast<off_t>(offset + got));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return file_error("a file of the store");
    if (part == 0) break;
    got += static_cast<std::size_t>(part);
  }
  bytes.resize(got);
  return bytes;
}

base::Result<void> replace_file(const std::string& path, const std::string& text) {
  const std::string next = path + ".next";
  const base::UniqueFd file(::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid() || !base::write_all(file.get(), text) || ::rename(next.c_str(), path.c_str()) != 0) {
    auto failed = file_error(path);
    ::unlink(next.c_str());
    return failed;
  }
  return {};
}

}  // namespace gpupool::keeper
