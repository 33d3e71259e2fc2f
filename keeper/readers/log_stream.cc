// SPDX-License-Identifier: Apache-2.0
#include "readers/log_stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;

constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr std::chrono::seconds kBetweenQuestions{60};
// A reader that is gone is noticed when something is sent to it.
constexpr std::chrono::minutes kLongestSilence{15};

bool older_than(const RankReader::Place& place, base::WallTime since) {
  return place.last_ns <
         static_cast<std::uint64_t>(
             std::chrono::duration_cast<std::chrono::nanoseconds>(since.time_since_epoch()).count());
}

}  // namespace

LogStream::LogStream(RankReader reader, const LogQuery& query, std::function<bool()> over,
                     std::function<bool(const std::stop_token&)> may_go_on, base::Clock& clock)
    : reader_(std::move(reader)),
      query_(query),
      over_(std::move(over)),
      may_go_on_(std::move(may_go_on)),
      clock_(clock),
      writer_({.timestamps = query.timestamps, .since = query.since}),
      asked_(clock.now()),
      last_output_(clock.now()) {}

// How many lines there are from a position on.
base::Result<std::uint64_t> LogStream::lines_from(std::uint64_t position) {
  LineWriter counter({.timestamps = true, .since = query_.since, .in_the_middle = position > 0});
  std::string dropped;
  while (true) {
    const auto block = reader_.next(position);
    if (!block) return tl::unexpected<base::Error>(block.error());
    if (!*block) break;
    std::string_view rest = (*block)->chunks;
    while (const auto chunk = push::take_chunk(rest)) counter.add(*chunk, dropped);
    dropped.clear();
    position = (*block)->end;
  }
  counter.finish(dropped);
  return counter.lines();
}

base::Result<void> LogStream::open() {
  if (!query_.timestamps || (!query_.tail_lines && !query_.since)) return {};
  const auto places = reader_.places();
  if (!places) return tl::unexpected<base::Error>(places.error());
  // A line may begin in the place before the one that has its end.
  std::size_t first = places->size() - 1;
  std::uint64_t skip = 0;
  if (query_.since) {
    first = 0;
    while (first + 1 < places->size() && older_than((*places)[first], *query_.since)) ++first;
    if (first > 0) --first;
  }
  if (query_.tail_lines) {
    const std::size_t least = query_.since ? first : 0;
    std::uint64_t lines = 0;
    for (std::size_t step = 1, at = places->size() - 1;; step *= 2) {
      first = std::max(at, least);
      const auto count = lines_from((*places)[first].begin);
      if (!count) return tl::unexpected<base::Error>(count.error());
      lines = *count;
      if (first == least || lines >= *query_.tail_lines) break;
      at = at > step ? at - step : 0;
    }
    skip = lines > *query_.tail_lines ? lines - *query_.tail_lines : 0;
  }
  position_ = (*places)[first].begin;
  writer_ = LineWriter(
      {.timestamps = true, .since = query_.since, .skip_lines = skip, .in_the_middle = position_ > 0});
  return {};
}

std::optional<std::string> LogStream::next(const std::stop_token& stop) {
  std::string piece;
  while (!done_ && piece.empty()) {
    // Looked at before the rest is read: nothing comes after the end.
    const bool ended = reader_.end().has_value() || over_();
    const auto block = reader_.next(position_);
    if (!block) return std::nullopt;
    if (*block) {
      std::string_view rest = (*block)->chunks;
      while (const auto chunk = push::take_chunk(rest)) writer_.add(*chunk, piece);
      position_ = (*block)->end;
      last_output_ = clock_.now();
    } else if (ended || !query_.follow) {
      done_ = true;
      writer_.finish(piece);
    } else if (!wait(stop)) {
      return std::nullopt;
    }
  }
  if (piece.empty()) return std::nullopt;
  return piece;
}

bool LogStream::wait(const std::stop_token& stop) {
  if (!clock_.sleep_for(kBetweenLooks, stop)) return false;
  const auto now = clock_.now();
  if (now - last_output_ > kLongestSilence) return false;
  if (now - asked_ < kBetweenQuestions) return true;
  asked_ = now;
  return may_go_on_(stop);
}

}  // namespace gpupool::keeper
