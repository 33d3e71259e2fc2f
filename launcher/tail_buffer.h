// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace gpupool::launcher {

// Keeps the last lines printed on two streams, in the order in which the lines were completed. Memory is
// bounded whatever is printed. A line that a bare carriage return overwrote (a progress bar) keeps its last
// state only. Not thread safe.
class TailBuffer {
 public:
  static constexpr std::size_t kStreams = 2;

  // Keeps between `capacity` and 2 * `capacity` bytes of complete lines.
  explicit TailBuffer(std::size_t capacity) : capacity_(capacity) {}

  void append(std::size_t stream, std::string_view bytes);

  // The kept lines, then what each stream has of an unfinished line. Starts at the start of a line, except
  // where a single line is longer than the capacity.
  [[nodiscard]] std::string text() const;

 private:
  struct Line {
    std::string bytes;
    bool after_return = false;
  };

  void add_to_line(Line& line, std::string_view bytes) const;
  void finish_line(Line& line);

  std::size_t capacity_;
  std::string lines_;
  std::array<Line, kStreams> open_;
};

}  // namespace gpupool::launcher
