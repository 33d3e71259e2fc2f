// SPDX-License-Identifier: Apache-2.0
#include "launcher/state_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "api/worker_result_format.h"
#include "launcher/file_io.h"
#include "launcher/result.h"
#include "launcher/timestamp.h"

namespace gpupool::launcher {
namespace {

constexpr std::string_view kMark = api::worker_result::kMarkFile;
constexpr std::string_view kResult = api::worker_result::kResultFile;

// Space beyond the file's end, so that the file stays empty. Where a file system cannot do that, zeros.
int take_space(int fd) {
  if (::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, kMaxResultBytes) == 0) return 0;
  return errno == EOPNOTSUPP || errno == ENOSYS ? ::posix_fallocate(fd, 0, kMaxResultBytes) : errno;
}

}  // namespace

std::string StateDir::file(std::string_view name) const {
  std::string full = path_;
  full += '/';
  full += name;
  return full;
}

std::optional<std::string> StateDir::stored_result() const {
  std::optional<std::string> json = read_file(file(kResult), kMaxResultBytes);
  if (json && exit_code_in(*json)) return json;
  return std::nullopt;
}

std::optional<std::chrono::sys_time<std::chrono::nanoseconds>> StateDir::stored_at() const {
  struct stat info{};
  if (::stat(file(kResult).c_str(), &info) != 0) return std::nullopt;
  return std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::seconds(info.st_mtim.tv_sec) +
                                                         std::chrono::nanoseconds(info.st_mtim.tv_nsec));
}

std::optional<std::string> StateDir::marked_at() const {
  struct stat info{};
  if (::stat(file(kMark).c_str(), &info) != 0) return std::nullopt;
  return rfc3339(info.st_mtime);
}

Expected<void> StateDir::reserve() {
  const std::string name = file(kResult);
  result_ = base::UniqueFd(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!result_.valid()) return failure(with_errno("cannot create " + name, errno));
  const int error = take_space(result_.get());
  if (error != 0) return failure(with_errno("cannot reserve space for " + name, error));
  return {};
}

Expected<void> StateDir::mark() {
  const std::string name = file(kMark);
  mark_ = base::UniqueFd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!mark_.valid()) return failure(with_errno("cannot create " + name, errno));
  ::flock(mark_.get(), LOCK_EX | LOCK_NB);  // nobody else has it; without it a reader waits for the result
  return sync_names();
}

Expected<void> StateDir::store(std::string_view json) {
  if (!write_all(result_.get(), json) || ::ftruncate(result_.get(), static_cast<off_t>(json.size())) != 0 ||
      ::fdatasync(result_.get()) != 0) {
    return failure(with_errno("cannot store " + file(kResult), errno));
  }
  result_.reset();
  return names_synced_ ? Expected<void>() : sync_names();
}

Expected<void> StateDir::store_again(std::string_view json) {
  return replace_file(file(kResult), json, Durable::kYes);
}

Expected<void> StateDir::sync_names() {
  Expected<void> synced = sync_directory(path_);
  names_synced_ = synced.has_value();
  return synced;
}

}  // namespace gpupool::launcher
