// SPDX-License-Identifier: Apache-2.0
#include "base/read_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gpupool::base {

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const auto failed = [&](const std::string& cause) { return fail(ErrorCode::kIo, path + ": " + cause); };
  const auto cause = [] {
    return errno == 0 ? std::string("cannot be read") : std::generic_category().message(errno);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return failed("is a directory");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return failed(cause());
  std::string text;
  std::array<char, 16384> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > max_bytes) return failed("is larger than " + std::to_string(max_bytes / kMiB) + " MiB");
  }
  if (in.bad()) return failed(cause());
  return text;
}

std::string trimmed(const std::string& text) {
  static constexpr const char* kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace gpupool::base
