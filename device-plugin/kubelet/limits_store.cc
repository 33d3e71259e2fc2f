// SPDX-License-Identifier: Apache-2.0
#include "kubelet/limits_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/read_file.h"
#include "base/write_all.h"

namespace gpupool::kubelet {

namespace {

namespace fs = std::filesystem;
constexpr std::string_view kUnfinished = ".new-";

bool has_content(const std::string& path, const std::string& content) {
  const auto read = base::read_file(path, base::kMiB);
  return read && *read == content;
}

base::WallTime modified(const struct stat& status) {
  return base::WallTime(std::chrono::seconds(status.st_mtim.tv_sec));
}

}  // namespace

base::Result<void> LimitsStore::put(const allocation::LimitsFile& file) const {
  const auto failed = [](const char* what, const std::string& path) {
    return base::fail(base::ErrorCode::kIo, "cannot " + std::string(what) + " " + path + ": " +
                                                std::generic_category().message(errno));
  };
  const auto path = directory_ + "/" + file.name;
  if (has_content(path, file.content)) {
    if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0) return {};
  }
  std::error_code error;
  fs::create_directories(directory_, error);  // an error shows at the next step

  static std::atomic<unsigned> count{0};
  const auto unfinished = directory_ + "/" + std::string(kUnfinished) + std::to_string(::getpid()) + "-" +
                          std::to_string(count.fetch_add(1)) + "-" + file.name;
  const int fd = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (fd < 0) return failed("create", unfinished);
  const bool written = ::fchmod(fd, 0444) == 0 && base::write_all(fd, file.content);
  const int why = errno;
  ::close(fd);
  // If a file to be mounted is missing, container runtimes create an empty folder of its name.
  if (written) ::rmdir(path.c_str());
  if (written && ::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  if (!written) errno = why;
  auto result = failed("write", path);
  ::unlink(unfinished.c_str());
  return result;
}

bool LimitsStore::has(const std::string& name) const {
  struct stat status{};
  return ::lstat((directory_ + "/" + name).c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

void LimitsStore::remove(const std::string& name) const { ::unlink((directory_ + "/" + name).c_str()); }

int LimitsStore::collect(const std::set<std::string>& keep, base::WallTime before) const {
  int removed = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const auto path = entry.path().string();
    struct stat status{};
    if (keep.contains(entry.path().filename().string()) || ::lstat(path.c_str(), &status) != 0) continue;
    if (!S_ISREG(status.st_mode) || modified(status) >= before) continue;
    if (::unlink(path.c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace gpupool::kubelet
