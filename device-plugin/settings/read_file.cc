#include "settings/read_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gpupool::settings {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

}  // namespace

base::Result<std::string> read_file(const std::string& path) {
  const auto failed = [&](const std::string& cause) {
    return base::fail(base::ErrorCode::kIo, path + ": " + cause);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return failed("is a directory");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  const auto cause = [] {
    return errno == 0 ? std::string("cannot be read") : std::generic_category().message(errno);
  };
  if (!in) return failed(cause());
  std::string text;
  std::array<char, 16384> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMaxFileBytes) return failed("is larger than 1 MiB");
  }
  if (in.bad()) return failed(cause());
  return text;
}

}  // namespace gpupool::settings
