// SPDX-License-Identifier: Apache-2.0
#include "csv/order_statistics.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gpupool::carry::csv {
namespace {

constexpr std::uint64_t kSign = 1ULL << 63U;
constexpr std::size_t kFirstHeld = 16;
constexpr unsigned kKeyBits = 64;
constexpr unsigned kMaxCountedBits = 16;
constexpr unsigned kMinCountedBits = 2;

// Keys are ordered as the numbers are.
std::uint64_t key_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double number_of(std::uint64_t key) { return std::bit_cast<double>((key & kSign) != 0 ? key ^ kSign : ~key); }

}  // namespace

OrderStatistics::OrderStatistics(std::size_t series, std::size_t memory)
    : series_(series), room_(memory / sizeof(double)) {
  for (auto& one : series_) one.intervals.resize(1);
}

void OrderStatistics::add_to(Interval& interval, std::uint64_t key, double value) {
  if (interval.counted_bits == 0) {
    interval.held.push_back(value);
    return;
  }
  const auto rest = interval.known_bits == 0 ? key : key << interval.known_bits;
  ++interval.counters[rest >> (kKeyBits - interval.counted_bits)];
}

void OrderStatistics::add(std::size_t series, double value) {
  auto& intervals = series_[series].intervals;
  if (first_) {
    if (intervals.empty()) return;
    auto& all = intervals.front();
    ++all.count;
    if (all.counted_bits == 0) return hold(all, value);
    return add_to(all, key_of(value), value);
  }
  const auto key = key_of(value);
  for (auto& interval : intervals) {
    if (key >> (kKeyBits - interval.known_bits) != interval.prefix) continue;
    add_to(interval, key, value);
    return;
  }
}

// What a vector takes counts, not what is in it.
void OrderStatistics::hold(Interval& all, double value) {
  const auto capacity = all.held.capacity();
  if (all.held.size() == capacity) {
    const auto larger = std::max(kFirstHeld, capacity + capacity / 2);
    held_ += larger - capacity;
    if (held_ > room_) {
      count_all();
      return add_to(all, key_of(value), value);
    }
    all.held.reserve(larger);
  }
  all.held.push_back(value);
}

void OrderStatistics::forget(std::size_t series) {
  auto& intervals = series_[series].intervals;
  if (intervals.empty()) return;
  held_ -= intervals.front().held.capacity();
  intervals = {};
}

unsigned OrderStatistics::affordable_bits(std::size_t intervals) const {
  const auto share = std::max<std::size_t>(room_ / std::max<std::size_t>(intervals, 1), 1);
  return std::clamp(static_cast<unsigned>(std::bit_width(share)) - 1, kMinCountedBits, kMaxCountedBits);
}

void OrderStatistics::count_all() {
  const auto left =
      std::count_if(series_.begin(), series_.end(), [](const Series& one) { return !one.intervals.empty(); });
  const auto bits = affordable_bits(static_cast<std::size_t>(left));
  for (auto& one : series_) {
    if (one.intervals.empty()) continue;
    auto& all = one.intervals.front();
    const auto held = std::exchange(all.held, {});
    all.counted_bits = bits;
    all.counters.resize(1ULL << bits);
    for (const double value : held) add_to(all, key_of(value), value);
  }
}

void OrderStatistics::want(std::size_t series, const std::vector<std::int64_t>& ranks) {
  auto& wanted = series_[series].intervals.front().ranks;
  wanted.insert(wanted.end(), ranks.begin(), ranks.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
}

void OrderStatistics::find_held(Series& series, Interval& interval) const {
  auto from = interval.held.begin();
  for (const auto rank : interval.ranks) {
    const auto at = interval.held.begin() + (rank - interval.below);
    std::nth_element(from, at, interval.held.end());
    series.found.emplace_back(rank, *at);
    from = at;
  }
}

// Finds what is held, and puts smaller intervals in the place of those that were counted.
void OrderStatistics::narrow(Series& series) {
  std::vector<Interval> smaller;
  for (auto& interval : series.intervals) {
    if (interval.counted_bits == 0) {
      find_held(series, interval);
      continue;
    }
    auto below = interval.below;
    std::size_t counter = 0;
    for (const auto rank : interval.ranks) {
      while (below + interval.counters[counter] <= rank) below += interval.counters[counter++];
      const auto prefix = (interval.prefix << interval.counted_bits) | counter;
      const auto bits = interval.known_bits + interval.counted_bits;
      if (bits == kKeyBits) {
        series.found.emplace_back(rank, number_of(prefix));
      } else if (!smaller.empty() && smaller.back().known_bits == bits && smaller.back().prefix == prefix) {
        smaller.back().ranks.push_back(rank);
      } else {
        auto& next = smaller.emplace_back();
        next.prefix = prefix;
        next.known_bits = bits;
        next.below = below;
        next.count = interval.counters[counter];
        next.ranks = {rank};
      }
    }
  }
  series.intervals = std::move(smaller);
}

bool OrderStatistics::settle() {
  first_ = false;
  std::size_t intervals = 0;
  for (auto& one : series_) {
    narrow(one);
    intervals += one.intervals.size();
  }
  if (intervals == 0) return false;
  const auto bits = affordable_bits(intervals);
  const auto share = static_cast<std::int64_t>(room_ / intervals);
  for (auto& one : series_) {
    for (auto& interval : one.intervals) {
      if (interval.count <= share) {
        interval.held.reserve(static_cast<std::size_t>(interval.count));
        continue;
      }
      interval.counted_bits = std::min(bits, kKeyBits - interval.known_bits);
      interval.counters.resize(1ULL << interval.counted_bits);
    }
  }
  return true;
}

double OrderStatistics::at(std::size_t series, std::int64_t rank) const {
  const auto& found = series_[series].found;
  return std::find_if(found.begin(), found.end(), [rank](const auto& one) { return one.first == rank; })
      ->second;
}

}  // namespace gpupool::carry::csv
