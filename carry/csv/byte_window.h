// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "csv/source_file.h"
#include "failure/failure.h"

namespace gpupool::carry::csv {

// A part of a file in memory, which moves on. A byte order mark at the beginning of the file is left out. Not
// thread-safe.
class ByteWindow {
 public:
  static constexpr std::size_t kBlock = 256UL * 1024;          // how much is read at a time
  static constexpr std::size_t kMaxKept = 16UL * 1024 * 1024;  // bytes that may stay meanwhile
  static constexpr std::size_t kPadding = 64;                  // zeros after the end

  // check_text: whether NUL bytes and what is no UTF-8 are refused. `source` must outlive the window.
  ByteWindow(const SourceFile& source, bool check_text, std::stop_token stop);

  // The bytes, and kPadding zeros after them; valid until more().
  const char* begin() const { return bytes_.data() + begin_; }
  const char* end() const { return bytes_.data() + end_; }
  bool at_end() const { return at_end_; }  // of the file

  // Drops what is before `keep` and reads the next block, if there is one; else at_end() is true from now on.
  // Errors: kInvalid for bad text, kStopped. REQUIRES: at most kMaxKept bytes are kept.
  Outcome<void> more(const char* keep);

 private:
  Outcome<void> check_text();

  const SourceFile* source_;
  bool check_text_;
  std::stop_token stop_;
  std::vector<char> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t checked_ = 0;  // up to here the text is good
  std::int64_t offset_ = 0;  // of the next block in the file
  bool at_end_ = false;
};

}  // namespace gpupool::carry::csv
