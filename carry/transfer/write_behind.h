// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "failure/failure.h"
#include "files/output_file.h"

namespace gpupool::carry {

// Writes to a file on a thread of its own, so that the hash and the disk do not hold up the network. The
// thread begins with the second MiB: small files do without. Holds at most 512 KiB. One thread may use it.
class WriteBehind {
 public:
  WriteBehind() = default;
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  // A failure may be that of an earlier write. REQUIRES: until drain() the file is left alone, and is the
  // same.
  Outcome<void> write(OutputFile& file, std::string_view bytes);
  // Returns when all bytes are in the file, or its first failure since the last drain().
  Outcome<void> drain();

 private:
  static constexpr std::size_t kBuffers = 4;
  static constexpr std::size_t kBufferBytes = std::size_t{128} << 10U;

  void work();
  bool hand_over();

  std::int64_t direct_ = 0;  // bytes that were written without the thread
  OutputFile* file_ = nullptr;
  std::array<std::string, kBuffers> buffers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Counts of buffers; those from written_ to filled_ are the thread's, and filled_ is the one to fill next.
  std::size_t filled_ = 0;
  std::size_t written_ = 0;
  Outcome<void> done_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace gpupool::carry
