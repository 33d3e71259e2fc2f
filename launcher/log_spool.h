// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/log_push_format.h"
#include "base/unique_fd.h"
#include "launcher/expected.h"

namespace gpupool::launcher {

// What was printed and is not yet on the keeper's disk, as a ring in a file: so it outlives a launcher that
// is killed, and takes no memory. When it is full, the oldest is dropped. Positions count all bytes that were
// ever appended. What the command may have done to the file costs its own output, nothing else. Not
// thread-safe.
class LogSpool {
 public:
  static constexpr std::uint64_t kCapacity = std::uint64_t{16} << 20;

  // Where a reader is.
  struct Place {
    std::uint64_t position = 0;
    std::uint64_t offset = 0;  // in the ring
    bool operator==(const Place&) const = default;
  };

  // Takes up what an earlier launcher of this worker has left. capacity: bytes of the ring.
  Expected<void> open(const std::string& path, std::uint64_t capacity = kCapacity);
  // Whether open() has found one.
  [[nodiscard]] bool taken_up() const { return taken_up_; }
  // Removes the file.
  void remove();

  void append(api::log_push::Stream stream, std::uint64_t unix_ns, std::string_view bytes);

  [[nodiscard]] std::uint64_t begin() const { return head_.begin.position; }
  [[nodiscard]] std::uint64_t end() const { return head_.end.position; }

  // The first chunk that holds or follows a position. REQUIRES: begin() <= position <= end().
  [[nodiscard]] Place find(std::uint64_t position);
  // Adds whole chunks from `place` on to `out`, at most `limit` bytes, and moves `place` behind them. Adds at
  // least one, if there is one. REQUIRES: place.position >= begin().
  void read(Place& place, std::size_t limit, std::string& out);

  // What is before a position is not needed any more.
  void forget(std::uint64_t position);
  // The next byte has this position. Drops everything. REQUIRES: position >= end().
  void skip_to(std::uint64_t position);

 private:
  struct Head {
    Place begin;
    Place end;
  };
  struct Record {
    std::string header;  // kChunkHeaderBytes
    std::uint32_t length = 0;
  };

  [[nodiscard]] std::uint64_t used() const { return head_.end.offset - head_.begin.offset; }
  // Sets `record` to the chunk's header. False: the file does not have what it should.
  bool record_at(const Place& place, Record& record) const;
  static Place behind(const Place& place, const Record& record);
  bool read_ring(std::uint64_t offset, char* to, std::size_t size) const;
  bool write_ring(std::uint64_t offset, std::string_view bytes) const;
  bool store_head() const;
  bool load_head();
  void drop_all();

  std::string path_;
  base::UniqueFd file_;
  bool taken_up_ = false;
  std::uint64_t capacity_ = kCapacity;
  Head head_;  // offsets only grow, but for an empty ring; modulo capacity_ they are places in the file
};

}  // namespace gpupool::launcher
