// SPDX-License-Identifier: Apache-2.0
#include "enforcement/region_store.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/unique_fd.h"
#include "enforcement/mebibytes.h"
#include "limiter/region/region_file.h"

namespace gpupool::enforcement {
namespace {

namespace fs = std::filesystem;

tl::unexpected<base::Error> cannot(const char* what, const std::string& path, int error) {
  return base::fail(base::ErrorCode::kIo, "cannot " + std::string(what) + " " + path + ": " +
                                              std::generic_category().message(error));
}

std::vector<limiter::RegionDevice> devices_of(const allocation::RegionFile& region) {
  std::vector<limiter::RegionDevice> devices;
  devices.reserve(region.devices.size());
  for (const auto& device : region.devices) {
    devices.push_back({device.uuid, bytes_of_mib(device.limit_mib)});
  }
  return devices;
}

}  // namespace

base::Result<void> RegionStore::renew(const allocation::RegionFile& region) const {
  std::error_code error;
  fs::create_directories(directory_, error);  // an error shows at the next step
  static std::atomic<unsigned> count{0};
  const auto unfinished = path(".new-" + std::to_string(::getpid()) + "-" +
                               std::to_string(count.fetch_add(1)) + "-" + region.name);
  ::unlink(unfinished.c_str());  // of a process that had our PID
  const auto wanted = path(region.name);
  if (const int why = limiter::create_region(unfinished.c_str(), devices_of(region)); why != 0) {
    return cannot("create", unfinished, why);
  }
  // If a file to be mounted is missing, container runtimes create an empty folder of its name.
  ::rmdir(wanted.c_str());
  if (::rename(unfinished.c_str(), wanted.c_str()) == 0) return {};
  const int why = errno;
  ::unlink(unfinished.c_str());
  return cannot("write", wanted, why);
}

base::Result<void> RegionStore::restore(const allocation::RegionFile& region) const {
  struct stat status{};
  if (::lstat(path(region.name).c_str(), &status) == 0 && S_ISREG(status.st_mode)) return {};
  return renew(region);
}

bool RegionStore::cut(const std::string& name) const {
  constexpr auto kSize = static_cast<off_t>(sizeof(limiter::Region));
  constexpr off_t kBlock = 512;  // of st_blocks, whatever the filesystem
  const auto file_path = path(name);
  struct stat status{};
  const auto is_long = [&] {
    // Memory can also be put behind the end without moving it.
    return S_ISREG(status.st_mode) && (status.st_size > kSize || status.st_blocks > 2 * kSize / kBlock);
  };
  if (::lstat(file_path.c_str(), &status) != 0 || !is_long()) return false;
  const base::UniqueFd file(::open(file_path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !is_long()) return false;
  return ::ftruncate(file.get(), kSize) == 0;
}

int RegionStore::collect(const std::set<std::string>& keep, base::WallTime before) const {
  int removed = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const auto file = entry.path().string();
    struct stat status{};
    if (keep.contains(entry.path().filename().string()) || ::lstat(file.c_str(), &status) != 0) continue;
    const base::WallTime changed{std::chrono::seconds(status.st_mtim.tv_sec)};
    if (!S_ISREG(status.st_mode) || changed >= before) continue;
    if (::unlink(file.c_str()) == 0) ++removed;
  }
  return removed;
}

std::string RegionStore::problem() const {
  struct statfs status{};
  if (::statfs(directory_.c_str(), &status) != 0) return {};  // made with the first region
  if (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC) return {};
  return directory_ + " is not on tmpfs: what containers use of GPUs is written to a disk";
}

}  // namespace gpupool::enforcement
