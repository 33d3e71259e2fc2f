// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpupool::carry::csv {

// Finds the k-th smallest of many numbers, exactly and in bounded memory, for several series of numbers at
// once. As long as they fit, the numbers are held. Else they are counted in intervals, and the series are
// read again: each time the interval with the wanted number is divided, until it is small enough to hold. 16
// bits of a number are known after one reading, so that is at most 4 more readings for a few series. Not
// thread-safe.
class OrderStatistics {
 public:
  // memory: bytes for all series together.
  OrderStatistics(std::size_t series, std::size_t memory);

  // Adds one number to a series in the reading that goes on. REQUIRES: it is not NaN.
  void add(std::size_t series, double value);
  // The series is of no interest any more.
  void forget(std::size_t series);

  // After the first reading, before settle(): the places that are wanted of a series, counted from 0.
  // REQUIRES: they are less than the series' length.
  void want(std::size_t series, const std::vector<std::int64_t>& ranks);
  // After each reading. Returns whether the series must be read again, in any order.
  bool settle();
  // REQUIRES: want() named the rank, and settle() returned false.
  double at(std::size_t series, std::int64_t rank) const;

 private:
  // The numbers whose keys begin with certain bits.
  struct Interval {
    std::uint64_t prefix = 0;
    unsigned known_bits = 0;
    std::int64_t below = 0;  // how many numbers of the series are less than all in here
    std::int64_t count = 0;
    std::vector<std::int64_t> ranks;  // wanted, ascending, of the whole series
    std::vector<double> held;
    unsigned counted_bits = 0;           // 0: the numbers are held
    std::vector<std::int64_t> counters;  // 2^counted_bits
  };
  struct Series {
    std::vector<Interval> intervals;
    std::vector<std::pair<std::int64_t, double>> found;  // rank and number
  };

  static void add_to(Interval& interval, std::uint64_t key, double value);
  void hold(Interval& all, double value);
  void count_all();  // instead of holding
  void narrow(Series& series);
  void find_held(Series& series, Interval& interval) const;
  unsigned affordable_bits(std::size_t intervals) const;

  std::vector<Series> series_;
  std::size_t room_;      // numbers or counters
  std::size_t held_ = 0;  // of the room, in the first reading
  bool first_ = true;
};

}  // namespace gpupool::carry::csv
