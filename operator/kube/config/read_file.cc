#include "kube/config/read_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gpupool::kube {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

}  // namespace

base::Result<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return base::fail(base::ErrorCode::kIo, path + ": is a directory");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  const auto failed = [&] {
    const std::string cause = errno == 0 ? "cannot be read" : std::generic_category().message(errno);
    return base::fail(base::ErrorCode::kIo, path + ": " + cause);
  };
  if (!in) return failed();
  std::string text;
  std::array<char, 16384> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMaxBytes) return base::fail(base::ErrorCode::kIo, path + ": is larger than 16 MiB");
  }
  if (in.bad()) return failed();
  return text;
}

std::string trimmed(const std::string& text) {
  static constexpr const char* kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string resolve_path(const std::string& directory, const std::string& path) {
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

}  // namespace gpupool::kube
