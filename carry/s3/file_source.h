// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

#include "digest/sha256.h"
#include "transfer/http_message.h"

namespace gpupool::carry::s3 {

// A regular file that is sent in one or more pieces, and hashed on the way although pieces may be sent again.
class FileSource final : public BodySource {
 public:
  // fd: not owned. kInvalid if it is no regular file.
  static Outcome<FileSource> open(int fd, std::string name);

  std::int64_t file_size() const { return before_.st_size; }
  // What read() and size() are about from now on.
  void choose(std::int64_t begin, std::int64_t size) {
    begin_ = begin;
    size_ = size;
  }
  std::int64_t size() const override { return size_; }
  Outcome<std::size_t> read(std::int64_t offset, char* to, std::size_t capacity) override;

  // The SHA-256 of the file. kMismatch if it is not as it was at open().
  Outcome<std::string> finish();

 private:
  FileSource(int fd, std::string name, const struct stat& before)
      : fd_(fd), name_(std::move(name)), before_(before), size_(before.st_size) {}
  tl::unexpected<Failure> changed() const;

  int fd_;
  std::string name_;
  struct stat before_;
  std::int64_t begin_ = 0;
  std::int64_t size_;
  std::int64_t hashed_ = 0;
  digest::Sha256 hash_;
};

}  // namespace gpupool::carry::s3
