// SPDX-License-Identifier: Apache-2.0
#include "reports/machine_report.h"

#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "reports/fields.h"

namespace gpupool::ledger {
namespace {

constexpr std::int64_t kPercentOfAll = 100;

std::string share_text(std::int64_t part, std::int64_t all) {
  return all == 0 ? "-" : std::to_string(part * kPercentOfAll / all) + " %";
}

void add_rented(const Statement& bill, std::map<std::string, MachineLine>& machines) {
  for (const auto& line : bill.lines) {
    const auto nodes = static_cast<std::int64_t>(line.fact.nodes.size());
    if (nodes == 0 || line.corrects > 0) continue;
    for (const auto& node : line.fact.nodes) {
      auto& machine = machines[node];
      machine.rented += milli_gpu_seconds(line) / nodes;
      machine.owner = line.fact.owner;
    }
  }
}

}  // namespace

base::Result<MachineReport> make_machine_report(Books& books, MachineTimes& times, const base::Month& month,
                                                const std::string& owner, std::size_t most_lines) {
  auto bill = make_statement(books, month, {.ns = "", .owner = owner, .for_owner = false}, most_lines);
  if (!bill) return tl::unexpected<base::Error>(bill.error());
  auto payout = make_statement(books, month, {.ns = "", .owner = owner, .for_owner = true}, most_lines);
  if (!payout) return tl::unexpected<base::Error>(payout.error());
  const auto hours = times.between(month.begin, month.end);
  if (!hours) return tl::unexpected<base::Error>(hours.error());
  std::map<std::string, MachineLine> machines;
  add_rented(*bill, machines);
  for (const auto& hour : *hours) {
    if (!owner.empty() && !machines.contains(hour.node)) continue;
    auto& machine = machines[hour.node];
    machine.measured += hour.sampled;
    machine.busy += hour.busy;
  }
  MachineReport report{{}, *std::move(payout)};
  for (auto& [node, machine] : machines) {
    machine.node = node;
    report.machines.push_back(std::move(machine));
  }
  return report;
}

std::string as_text(const MachineReport& report) {
  const auto& payout = report.payout;
  std::string text = "Machines of " +
                     (payout.whose.owner.empty() ? "all owners" : "owner " + payout.whose.owner) + ", " +
                     payout.month.name + " (UTC), in GPU-hours\n\n";
  text += padded("NODE", 40) + right("RENTED", 12) + right("MEASURED", 12) + right("BUSY", 12) +
          right("", 8) + "\n";
  for (const auto& machine : report.machines)
    text += padded(machine.node, 40) + right(short_hours(machine.rented), 12) +
            right(short_hours(machine.measured), 12) + right(short_hours(machine.busy), 12) +
            right(share_text(machine.busy, machine.measured), 8) + "\n";
  if (report.machines.empty()) text += "none\n";
  return text + "\n" + as_text(payout);
}

std::string as_json(const MachineReport& report) {
  auto machines = nlohmann::json::array();
  for (const auto& machine : report.machines)
    machines.push_back({{"node", machine.node},
                        {"owner", machine.owner},
                        {"rentedGpuHours", hours_text(machine.rented)},
                        {"measuredGpuHours", hours_text(machine.measured)},
                        {"busyGpuHours", hours_text(machine.busy)}});
  const nlohmann::json rest = {{"kind", "machines"},
                               {"month", report.payout.month.name},
                               {"owner", report.payout.whose.owner},
                               {"machines", std::move(machines)}};
  return "{\n\"payout\": " + as_json(report.payout) + ",\n" + rest.dump(2).substr(2) + "\n";
}

std::string in_format(const MachineReport& report, const std::string& format) {
  return format == "json" ? as_json(report) : as_text(report);
}

}  // namespace gpupool::ledger
