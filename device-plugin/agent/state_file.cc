// SPDX-License-Identifier: Apache-2.0
#include "agent/state_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/read_file.h"
#include "base/unique_fd.h"
#include "base/write_all.h"

namespace gpupool::agent {

namespace {

namespace fs = std::filesystem;

tl::unexpected<base::Error> failed(const char* what, const std::string& path) {
  return base::fail(base::ErrorCode::kIo, "cannot " + std::string(what) + " " + path + ": " +
                                              std::generic_category().message(errno));
}

base::Result<void> write_synced(const std::string& path, const std::string& content) {
  const base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return failed("create", path);
  if (base::write_all(fd.get(), content) && ::fsync(fd.get()) == 0) return {};
  return failed("write", path);
}

}  // namespace

base::Result<std::optional<std::string>> StateFile::read() const {
  std::error_code error;
  if (!fs::exists(path_, error) && !error) return std::optional<std::string>{};
  auto content = base::read_file(path_, base::kMiB);
  if (!content) return tl::unexpected<base::Error>(content.error());
  known_ = *content;
  return std::optional<std::string>(std::move(*content));
}

base::Result<void> StateFile::write(const std::string& content) {
  if (known_ == content) return {};
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);  // an error shows at the next step
  const auto unfinished = path_ + ".new";
  if (auto written = write_synced(unfinished, content); !written) return written;
  if (::rename(unfinished.c_str(), path_.c_str()) != 0) return failed("replace", path_);
  known_ = content;
  return {};
}

std::string read_boot_id() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(in, id);
  return id;
}

}  // namespace gpupool::agent
