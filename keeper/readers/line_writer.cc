// SPDX-License-Identifier: Apache-2.0
#include "readers/line_writer.h"

#include <chrono>
#include <cstddef>

#include "base/rfc3339.h"

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;

constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // a longer one is written as several
constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t unix_ns_of(base::WallTime time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

}  // namespace

std::string rfc3339_nano(std::uint64_t unix_ns) {
  constexpr std::size_t kDigits = 9;
  std::string text = base::to_rfc3339(base::WallTime(std::chrono::seconds(unix_ns / kSecond)));
  std::string fraction = std::to_string(unix_ns % kSecond);
  fraction.insert(0, kDigits - fraction.size(), '0');
  text.insert(text.size() - 1, "." + fraction);
  return text;
}

LineWriter::LineWriter(const Options& options) : options_(options) {
  for (Line& line : open_) line.left_out = options.in_the_middle;
}

void LineWriter::add(const push::Chunk& chunk, std::string& out) {
  if (chunk.stream == push::Stream::kLost) {
    if (chunk.bytes.size() != sizeof(std::uint64_t)) return;
    finish(out);
    if (!options_.timestamps && !at_line_begin_) out += '\n';
    const auto bytes = push::get<std::uint64_t>(chunk.bytes);
    Line note{.text = "[gpupool: " + std::to_string(bytes) + " bytes of the output were lost here]",
              .unix_ns = chunk.unix_ns};
    if (options_.timestamps) return end_line(note, out);
    out += note.text + "\n";
    at_line_begin_ = true;
    return;
  }
  if (!options_.timestamps) {
    out += chunk.bytes;
    if (!chunk.bytes.empty()) at_line_begin_ = chunk.bytes.back() == '\n';
    return;
  }
  add_text(open_[chunk.stream == push::Stream::kStderr ? 1 : 0], chunk, out);
}

void LineWriter::add_text(Line& line, const push::Chunk& chunk, std::string& out) {
  std::string_view rest = chunk.bytes;
  while (!rest.empty()) {
    if (!line.begun) {
      line.begun = true;
      line.unix_ns = chunk.unix_ns;
    }
    const std::size_t end = rest.find('\n');
    if (!line.left_out) line.text += rest.substr(0, end);
    if (end != std::string_view::npos || line.text.size() >= kLongestLine) end_line(line, out);
    if (end == std::string_view::npos) return;
    line.left_out = false;
    rest.remove_prefix(end + 1);
  }
}

void LineWriter::end_line(Line& line, std::string& out) {
  const bool old = options_.since && line.unix_ns < unix_ns_of(*options_.since);
  if (!line.left_out && !old && ++lines_ > options_.skip_lines) {
    out += rfc3339_nano(line.unix_ns);
    out += ' ';
    out += line.text;
    out += '\n';
  }
  line.text.clear();
  line.begun = false;
}

void LineWriter::finish(std::string& out) {
  for (Line& line : open_) {
    if (line.begun) end_line(line, out);
    line.left_out = false;
  }
}

}  // namespace gpupool::keeper
