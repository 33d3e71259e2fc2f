// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "failure/failure.h"

struct archive;  // of libarchive

namespace gpupool::carry {

struct ArchiveEntry {
  enum class Kind { kFile, kDirectory, kLink, kHardLink, kOther };
  Kind kind = Kind::kOther;
  std::string name;    // as the archive has it
  std::string target;  // of kLink and kHardLink
  bool program = false;
};

// A piece of a file. Between pieces there may be holes.
struct ArchivePiece {
  std::int64_t offset = 0;
  std::string_view bytes;  // good until the next call
  bool last = false;       // `offset` is the file's size, and there are no bytes
};

// Reads a tar or zip archive from its beginning to its end. All failures are kInvalid, but kStopped. Not
// thread-safe.
class ArchiveReader {
 public:
  // file: at its beginning. It must outlive the reader.
  static Outcome<std::unique_ptr<ArchiveReader>> open(int file, std::stop_token stop);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // Returns false after the last entry.
  Outcome<bool> next(ArchiveEntry& entry);
  Outcome<ArchivePiece> next_piece();  // of the file of the last entry

 private:
  ArchiveReader(int file, std::stop_token stop);
  tl::unexpected<Failure> broken(const std::string& what) const;
  static long read(archive* reader, void* self, const void** buffer);
  static std::int64_t seek(archive* reader, void* self, std::int64_t offset, int whence);

  int file_;
  std::stop_token stop_;
  std::unique_ptr<char[]> buffer_;
  struct Free {
    void operator()(archive* reader) const;
  };
  std::unique_ptr<archive, Free> reader_;
  std::string entry_name_;
  bool begun_ = false;
};

}  // namespace gpupool::carry
