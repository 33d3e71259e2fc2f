// SPDX-License-Identifier: Apache-2.0
// How long the GPUs of each machine were measured and busy, by the hour. No money depends on it: it is beside
// the chain of the books, in tables of its own.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "books/database.h"

namespace gpupool::ledger {

// Two counters of one GPU, as its device plugin reports them (device-plugin/telemetry/busy_times.h). They
// never go back while `since` stays.
struct GpuCounters {
  std::string gpu;           // UUID
  std::string since;         // when both began at 0; another text: they began anew
  std::int64_t sampled = 0;  // milliseconds
  std::int64_t busy = 0;     // of these
  bool operator==(const GpuCounters&) const = default;
};

// Of all GPUs of a machine together, in milliseconds.
struct MachineHour {
  std::string node;
  std::int64_t hour = 0;  // its begin, in Unix seconds
  std::int64_t sampled = 0;
  std::int64_t busy = 0;
  auto operator<=>(const MachineHour&) const = default;
};

// One thread at a time.
class MachineTimes {
 public:
  // where: as open_database() takes it.
  static base::Result<MachineTimes> open(const std::string& where);
  // For readers, beside a writer.
  static base::Result<MachineTimes> open_to_read(const std::string& where);

  // Adds by how much the counters of a machine have grown since they were last added, to the hour of `now`
  // (Unix seconds). What a GPU has counted before it is known is left out; after it began anew all of it is
  // new.
  struct Reading {
    std::string node;
    std::vector<GpuCounters> gpus;
  };
  // All of them in one transaction, after which they are on the disk.
  base::Result<void> add(const std::vector<Reading>& readings, std::int64_t now);

  // Of the hours that begin in this time, by node and hour.
  base::Result<std::vector<MachineHour>> between(std::int64_t from, std::int64_t to);

 private:
  explicit MachineTimes(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  base::Result<void> add(const Reading& reading, std::int64_t hour);

  std::unique_ptr<Database> database_;
};

}  // namespace gpupool::ledger
