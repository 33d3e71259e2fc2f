// SPDX-License-Identifier: Apache-2.0
#include "files/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "files/file_error.h"
#include "files/relative_path.h"

namespace gpupool::carry {

OutputFile::OutputFile(base::UniqueFd directory, std::string name, std::string part, base::UniqueFd fd,
                       bool lasting, SizeBudget& budget)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      part_(std::move(part)),
      fd_(std::move(fd)),
      lasting_(lasting),
      budget_(&budget) {}

OutputFile::OutputFile(OutputFile&&) noexcept = default;

OutputFile::~OutputFile() {
  if (fd_.valid() && !lasting_) discard();
}

Outcome<OutputFile> OutputFile::open(int root, std::string_view path, std::string_view version,
                                     SizeBudget& budget) {
  auto parts = split_path(path);
  if (!parts) return tl::unexpected(parts.error());
  std::string name = std::move(parts->back());
  parts->pop_back();
  auto directory = make_directories(root, *parts);
  if (!directory) return tl::unexpected(directory.error());
  // The name is as long whatever the file is called. A slash keeps name and version apart.
  std::string part = "." + digest::sha256_hex(name + "/" + std::string(version)).substr(0, 32);
  part += kPartSuffix;
  const int fresh = version.empty() ? O_TRUNC : 0;
  base::UniqueFd fd(
      ::openat(directory->get(), part.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | fresh, 0600));
  if (!fd.valid()) return file_failure("cannot create " + name, errno);
  OutputFile file(std::move(*directory), std::move(name), std::move(part), std::move(fd), !version.empty(),
                  budget);
  if (auto taken = file.take_up(); !taken) return tl::unexpected(taken.error());
  return file;
}

// Reads what an earlier process has written, to go on with its hash.
Outcome<void> OutputFile::take_up() {
  std::vector<char> buffer(1U << 18U);
  for (;;) {
    const auto got = ::read(fd_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_failure("cannot read what is there of " + name_, errno);
    if (got == 0) return {};
    if (auto taken = budget_->take(got); !taken) return taken;
    hash_.add({buffer.data(), static_cast<std::size_t>(got)});
    size_ += got;
  }
}

Outcome<void> OutputFile::write(std::string_view bytes) {
  if (auto taken = budget_->take(static_cast<std::int64_t>(bytes.size())); !taken) return taken;
  hash_.add(bytes);
  while (!bytes.empty()) {
    const auto wrote = ::write(fd_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int code = errno;
      discard();  // the hash has bytes that the file has not
      return file_failure("cannot write " + name_, code);
    }
    size_ += wrote;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Outcome<void> OutputFile::restart() {
  if (::ftruncate(fd_.get(), 0) != 0 || ::lseek(fd_.get(), 0, SEEK_SET) != 0)
    return file_failure("cannot empty " + name_, errno);
  budget_->give_back(size_);
  size_ = 0;
  hash_ = digest::Sha256();
  return {};
}

Outcome<WrittenFile> OutputFile::commit(const std::string& sha256, int mode) {
  WrittenFile written{size_, hash_.hex()};
  if (!sha256.empty() && sha256 != written.sha256) {
    discard();
    return failed(FailureKind::kMismatch,
                  name_ + " has the SHA-256 " + written.sha256 + ", and the spec says " + sha256);
  }
  if (::fchmod(fd_.get(), static_cast<mode_t>(mode)) != 0 || ::fsync(fd_.get()) != 0 ||
      ::renameat(directory_.get(), part_.c_str(), directory_.get(), name_.c_str()) != 0) {
    const int code = errno;
    discard();
    return file_failure("cannot finish " + name_, code);
  }
  fd_ = base::UniqueFd();
  return written;
}

void OutputFile::discard() {
  ::unlinkat(directory_.get(), part_.c_str(), 0);
  budget_->give_back(size_);
  size_ = 0;
  fd_ = base::UniqueFd();
}

}  // namespace gpupool::carry
