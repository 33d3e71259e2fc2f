#include "launcher/state_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "launcher/file_io.h"
#include "launcher/result.h"

namespace gpupool::launcher {
namespace {

constexpr std::string_view kMark = "mark";
constexpr std::string_view kResult = "result.json";
constexpr std::string_view kReserved = "result.json.tmp";

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

std::optional<std::string> StateDir::marked_at() const {
  struct stat info{};
  if (::stat(file(kMark).c_str(), &info) != 0) return std::nullopt;
  return read_file(file(kMark), 64).value_or("");
}

Expected<void> StateDir::reserve() {
  const std::string name = file(kReserved);
  reserved_ = UniqueFd(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!reserved_.valid()) return failure(with_errno("cannot create " + name, errno));
  const int error = ::posix_fallocate(reserved_.get(), 0, kMaxResultBytes);
  if (error != 0) return failure(with_errno("cannot reserve space for " + name, error));
  return {};
}

Expected<void> StateDir::mark(std::string_view started_at) {
  const std::string name = file(kMark);
  const UniqueFd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.valid() || !write_all(fd.get(), started_at) || ::fsync(fd.get()) != 0) {
    return failure(with_errno("cannot create " + name, errno));
  }
  return sync_directory(path_);
}

Expected<void> StateDir::store(std::string_view json) {
  const std::string name = file(kResult);
  if (!write_all(reserved_.get(), json) ||
      ::ftruncate(reserved_.get(), static_cast<off_t>(json.size())) != 0 || ::fsync(reserved_.get()) != 0 ||
      ::rename(file(kReserved).c_str(), name.c_str()) != 0) {
    return failure(with_errno("cannot store " + name, errno));
  }
  reserved_.reset();
  return sync_directory(path_);
}

}  // namespace gpupool::launcher
