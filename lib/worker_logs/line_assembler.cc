// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/line_assembler.h"

#include <algorithm>
#include <utility>

#include "base/rfc3339.h"

namespace gpupool::logs {
namespace {

constexpr std::size_t kLongestStamp = sizeof("2006-01-02T15:04:05.000000000+00:00") - 1;
constexpr std::size_t kLongestNote = 1024;
// FNV-1a.
constexpr std::uint64_t kHashBegin = 14695981039346656037ULL;
constexpr std::uint64_t kHashFactor = 1099511628211ULL;

std::uint64_t hash_on(std::uint64_t hash, std::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kHashFactor;
  return hash;
}

std::optional<base::WallTime> time_of(std::string_view stamp) {
  // Cheaper than to parse each first word.
  if (stamp.size() < 20 || stamp.size() > kLongestStamp || stamp[10] != 'T') return std::nullopt;
  return base::parse_rfc3339(stamp);
}

}  // namespace

LineAssembler::LineAssembler(Receiver receiver, bool keep_returns)
    : receiver_(std::move(receiver)), keep_returns_(keep_returns) {}

bool LineAssembler::feed(std::string_view bytes) {
  more_ = true;
  while (more_ && !bytes.empty()) {
    switch (state_) {
      case State::kStamp:
        bytes = take_stamp(bytes);
        break;
      case State::kText:
        bytes = take_text(bytes);
        break;
      case State::kMaybeStamp:
        bytes = take_maybe_stamp(bytes);
        break;
      case State::kNote:
        bytes = take_note(bytes);
        break;
    }
  }
  return more_;
}

void LineAssembler::finish(bool unfinished_counts) {
  if (state_ == State::kMaybeStamp) add_text(word_);
  if (unfinished_counts && (state_ == State::kText || state_ == State::kMaybeStamp)) end_line();
  const bool note = state_ == State::kNote || (unfinished_counts && state_ == State::kStamp);
  if (note && !word_.empty()) end_note();
  word_.clear();
  state_ = State::kStamp;
}

std::string_view LineAssembler::take_stamp(std::string_view bytes) {
  const std::size_t end = bytes.find_first_of(" \n");
  word_ += bytes.substr(0, std::min(end, kLongestNote));
  if (end == std::string_view::npos) {
    if (word_.size() > kLongestStamp) state_ = State::kNote;
    return {};
  }
  if (bytes[end] == '\n') {
    if (!word_.empty()) end_note();
    return bytes.substr(end + 1);
  }
  if (const auto time = time_of(word_)) {
    begin_line(*time);
  } else {
    word_ += ' ';
    state_ = State::kNote;
  }
  return bytes.substr(end + 1);
}

std::string_view LineAssembler::take_text(std::string_view bytes) {
  const std::size_t room = kPieceStep - since_stamp_ % kPieceStep;
  const std::size_t end = bytes.find('\n');
  const std::size_t length = std::min({end, bytes.size(), room});
  add_text(bytes.substr(0, length));
  since_stamp_ += length;
  if (length == end) {
    end_line();
    return bytes.substr(length + 1);
  }
  if (length == room) state_ = State::kMaybeStamp;
  return bytes.substr(length);
}

std::string_view LineAssembler::take_maybe_stamp(std::string_view bytes) {
  const char next = bytes.front();
  if (next == ' ') {
    if (const auto time = time_of(word_); time && *time >= last_time_) {
      last_time_ = *time;
      since_stamp_ = 0;
      word_.clear();
      state_ = State::kText;
      return bytes.substr(1);
    }
  }
  if (next == '\n' || next == ' ' || word_.size() == kLongestStamp) {
    add_text(word_);
    since_stamp_ += word_.size();
    word_.clear();
    state_ = State::kText;
    return bytes;
  }
  word_ += next;
  return bytes.substr(1);
}

std::string_view LineAssembler::take_note(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  const std::size_t room = kLongestNote - std::min(kLongestNote, word_.size());
  word_ += bytes.substr(0, std::min(end, room));
  if (end == std::string_view::npos) return {};
  end_note();
  return bytes.substr(end + 1);
}

void LineAssembler::begin_line(base::WallTime time) {
  line_ = LogLine{.time = time, .stamp = std::move(word_), .text = {}, .cut = 0, .id = kHashBegin};
  word_.clear();
  last_time_ = time;
  since_stamp_ = 0;
  after_return_ = false;
  state_ = State::kText;
}

void LineAssembler::add_text(std::string_view bytes) {
  line_.id = hash_on(line_.id, bytes);
  if (!keep_returns_) {
    // A return at the very end may be half of "\r\n", so it takes effect with the next byte only.
    bool ends_in_return = false;
    while (!bytes.empty() && bytes.back() == '\r') {
      bytes.remove_suffix(1);
      ends_in_return = true;
    }
    if (!bytes.empty()) {
      const std::size_t last = bytes.rfind('\r');
      if (last != std::string_view::npos) bytes.remove_prefix(last + 1);
      if (after_return_ || last != std::string_view::npos) {
        line_.text.clear();
        line_.cut = 0;
      }
      after_return_ = false;
    }
    after_return_ = after_return_ || ends_in_return;
  }
  const std::size_t room = kMaxBytes - line_.text.size();
  line_.text += bytes.substr(0, room);
  if (bytes.size() > room) line_.cut += bytes.size() - room;
}

void LineAssembler::end_line() {
  state_ = State::kStamp;
  more_ = receiver_.on_line(std::exchange(line_, {}));
}

void LineAssembler::end_note() {
  state_ = State::kStamp;
  receiver_.on_note(std::exchange(word_, {}));
}

}  // namespace gpupool::logs
