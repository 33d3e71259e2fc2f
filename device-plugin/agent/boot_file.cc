// SPDX-License-Identifier: Apache-2.0
#include "agent/boot_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/read_file.h"
#include "base/unique_fd.h"

namespace gpupool::agent {

base::Result<std::optional<std::string>> BootFile::read() const {
  std::error_code error;
  if (!std::filesystem::exists(path_, error) && !error) return std::optional<std::string>{};
  auto content = base::read_file(path_, base::kMiB);
  if (!content) return tl::unexpected<base::Error>(content.error());
  return std::optional<std::string>(std::move(*content));
}

base::Result<void> BootFile::write(const std::string& content) const {
  const auto failed_to = [&](const char* what) {
    return base::fail(base::ErrorCode::kIo, "cannot " + std::string(what) + " " + path_ + ": " +
                                                std::generic_category().message(errno));
  };
  const auto open_file = [&] {
    return base::UniqueFd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  };
  auto fd = open_file();
  if (!fd.valid() && errno == ENOENT) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
    fd = open_file();
  }
  if (!fd.valid()) return failed_to("create");
  const auto written = ::pwrite(fd.get(), content.data(), content.size(), 0);
  const bool whole = written >= 0 && static_cast<std::size_t>(written) == content.size();
  if (!whole || ::ftruncate(fd.get(), static_cast<off_t>(content.size())) != 0) return failed_to("write");
  return {};
}

}  // namespace gpupool::agent
