// SPDX-License-Identifier: Apache-2.0
#include "books/machine_times.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "books/transaction.h"

namespace gpupool::ledger {
namespace {

constexpr std::int64_t kHour = 3600;

std::string machine_tables(const Database& database) {
  const std::string integer = database.integer() + " NOT NULL";
  const std::string end = database.end_of_table() + ";\n";
  return "CREATE TABLE IF NOT EXISTS gpu_counters(gpu TEXT PRIMARY KEY, since TEXT NOT NULL, sampled " +
         integer + ", busy " + integer + ")" + end +
         "CREATE TABLE IF NOT EXISTS machine_hour(node TEXT NOT NULL, hour " + integer + ", sampled " +
         integer + ", busy " + integer + ", PRIMARY KEY(node, hour))" + end;
}

base::Result<std::optional<GpuCounters>> counters_of(Database& database, const std::string& gpu) {
  auto known = database.prepare("SELECT since, sampled, busy FROM gpu_counters WHERE gpu = ?1");
  if (!known) return tl::unexpected<base::Error>(known.error());
  const auto row = (*known)->bind(1, gpu).step();
  if (!row) return tl::unexpected<base::Error>(row.error());
  if (!*row) return std::nullopt;
  return GpuCounters{gpu, (*known)->text(0), (*known)->number(1), (*known)->number(2)};
}

base::Result<void> store(Database& database, const GpuCounters& now) {
  auto write = database.prepare(
      "INSERT INTO gpu_counters VALUES(?1, ?2, ?3, ?4) ON CONFLICT(gpu) DO UPDATE SET since = "
      "excluded.since, "
      "sampled = excluded.sampled, busy = excluded.busy");
  if (!write) return tl::unexpected<base::Error>(write.error());
  return execute((*write)->bind(1, now.gpu).bind(2, now.since).bind(3, now.sampled).bind(4, now.busy));
}

// How far they have come since then.
GpuCounters growth(const std::optional<GpuCounters>& before, const GpuCounters& now) {
  GpuCounters grown{now.gpu, now.since, 0, 0};
  if (!before) return grown;
  const bool anew = before->since != now.since;
  grown.sampled = std::max<std::int64_t>(0, now.sampled - (anew ? 0 : before->sampled));
  grown.busy = std::max<std::int64_t>(0, now.busy - (anew ? 0 : before->busy));
  return grown;
}

}  // namespace

base::Result<MachineTimes> MachineTimes::open(const std::string& where) {
  auto database = open_database(where, Access::kCreate);
  if (!database) return tl::unexpected<base::Error>(database.error());
  if (auto made = (*database)->run(machine_tables(**database)); !made)
    return tl::unexpected<base::Error>(made.error());
  return MachineTimes(*std::move(database));
}

base::Result<MachineTimes> MachineTimes::open_to_read(const std::string& where) {
  auto database = open_database(where, Access::kReadOnly);
  if (!database) return tl::unexpected<base::Error>(database.error());
  return MachineTimes(*std::move(database));
}

base::Result<void> MachineTimes::add(const std::vector<Reading>& readings, std::int64_t now) {
  Transaction transaction(*database_);
  if (!transaction.begun()) return transaction.begun();
  for (const auto& reading : readings) {
    if (auto added = add(reading, now - now % kHour); !added) return added;
  }
  return transaction.commit();
}

base::Result<void> MachineTimes::add(const Reading& reading, std::int64_t hour) {
  MachineHour sum{reading.node, hour, 0, 0};
  for (const auto& now : reading.gpus) {
    const auto before = counters_of(*database_, now.gpu);
    if (!before) return tl::unexpected<base::Error>(before.error());
    if (*before == now) continue;
    const auto grown = growth(*before, now);
    sum.sampled += grown.sampled;
    sum.busy += grown.busy;
    if (auto stored = store(*database_, now); !stored) return stored;
  }
  if (sum.sampled == 0) return {};
  auto write = database_->prepare(
      "INSERT INTO machine_hour VALUES(?1, ?2, ?3, ?4) ON CONFLICT(node, hour) DO UPDATE SET "
      "sampled = machine_hour.sampled + excluded.sampled, busy = machine_hour.busy + excluded.busy");
  if (!write) return tl::unexpected<base::Error>(write.error());
  return execute((*write)->bind(1, sum.node).bind(2, sum.hour).bind(3, sum.sampled).bind(4, sum.busy));
}

base::Result<std::vector<MachineHour>> MachineTimes::between(std::int64_t from, std::int64_t to) {
  auto rows = database_->select(
      "SELECT node, hour, sampled, busy FROM machine_hour WHERE hour >= " + std::to_string(from) +
      " AND hour < " + std::to_string(to) + " ORDER BY node, hour");
  if (!rows) return tl::unexpected<base::Error>(rows.error());
  std::vector<MachineHour> hours;
  for (;;) {
    const auto row = (*rows)->step();
    if (!row) return tl::unexpected<base::Error>(row.error());
    if (!*row) return hours;
    hours.push_back({(*rows)->text(0), (*rows)->number(1), (*rows)->number(2), (*rows)->number(3)});
  }
}

}  // namespace gpupool::ledger
