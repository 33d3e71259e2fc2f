// SPDX-License-Identifier: Apache-2.0
// The forms of a statement.
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "reports/fields.h"
#include "reports/statement.h"

namespace gpupool::ledger {
namespace {

using nlohmann::json;

std::string title(const Statement& statement) {
  const auto& whose = statement.whose;
  if (whose.for_owner) return whose.owner.empty() ? "Payout of all owners" : "Payout of owner " + whose.owner;
  return whose.ns.empty() ? "Bill of all namespaces" : "Bill of namespace " + whose.ns;
}

}  // namespace

std::string as_text(const Statement& statement) {
  struct Sum {
    std::int64_t milli_gpu_seconds = 0;
    base::Micros amount = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> jobs;  // job, currency
  for (const auto& line : statement.lines) {
    const auto& fact = line.fact;
    auto& sum = jobs[{fact.ns + "/" + fact.job + (statement.whose.for_owner ? " of " + fact.owner : "") +
                          (line.corrects > 0 ? ", correction of entry " + std::to_string(line.corrects) : ""),
                      fact.currency}];
    sum.milli_gpu_seconds += milli_gpu_seconds(line);
    sum.amount += line.amount;
  }
  std::string text = title(statement) + ", " + statement.month.name + " (UTC)" +
                     (statement.closing > 0 ? ", closed" : "") + "\n\n";
  text += padded("JOB", 40) + right("GPU-HOURS", 14) + right("AMOUNT", 20) + "\n";
  for (const auto& [key, sum] : jobs)
    text += padded(key.first, 40) + right(short_hours(sum.milli_gpu_seconds), 14) +
            right(base::micros_text(sum.amount) + " " + key.second, 20) + "\n";
  for (const auto& [currency, total] : statement.totals)
    text += padded("Total", 40) + right("", 14) + right(base::micros_text(total) + " " + currency, 20) + "\n";
  if (jobs.empty()) text += "nothing\n";
  return text;
}

std::string as_csv(const Statement& statement) {
  std::string text = csv_row({"month",
                              "entry",
                              "namespace",
                              "job",
                              "job_uid",
                              "segment",
                              "pool",
                              "owner",
                              "nodes",
                              "gpus_per_node",
                              "slices_per_node",
                              "split",
                              "from",
                              "to",
                              "seconds",
                              "price_per_gpu_hour",
                              "fee_percent",
                              "amount",
                              "currency",
                              "note"});
  for (const auto& line : statement.lines) {
    const auto& fact = line.fact;
    std::string nodes;
    for (const auto& node : fact.nodes) nodes += (nodes.empty() ? "" : " ") + node;
    text += csv_row({statement.month.name,
                     std::to_string(line.seq),
                     fact.ns,
                     fact.job,
                     fact.job_uid,
                     std::to_string(fact.number),
                     fact.pool,
                     fact.owner,
                     nodes,
                     std::to_string(fact.gpus),
                     std::to_string(fact.slices),
                     std::to_string(fact.split),
                     time_text(line.from),
                     time_text(line.to),
                     std::to_string(line.to - line.from),
                     base::micros_text(fact.per_gpu_hour),
                     std::to_string(fact.fee),
                     base::micros_text(line.amount),
                     fact.currency,
                     line.note});
  }
  return text;
}

std::string as_json(const Statement& statement) {
  json lines = json::array();
  for (const auto& line : statement.lines) {
    const auto& fact = line.fact;
    lines.push_back({{"entry", line.seq},
                     {"namespace", fact.ns},
                     {"job", fact.job},
                     {"jobUid", fact.job_uid},
                     {"segment", fact.number},
                     {"pool", fact.pool},
                     {"owner", fact.owner},
                     {"nodes", fact.nodes},
                     {"gpus", fact.gpus},
                     {"slices", fact.slices},
                     {"split", fact.split},
                     {"from", time_text(line.from)},
                     {"to", time_text(line.to)},
                     {"seconds", line.to - line.from},
                     {"perGpuHour", base::micros_text(fact.per_gpu_hour)},
                     {"fee", fact.fee},
                     {"amount", base::micros_text(line.amount)},
                     {"currency", fact.currency},
                     {"note", line.note}});
  }
  json totals = json::object();
  for (const auto& [currency, total] : statement.totals) totals[currency] = base::micros_text(total);
  const json all = {{"month", statement.month.name},
                    {"closed", statement.closing > 0},
                    {"kind", statement.whose.for_owner ? "payout" : "bill"},
                    {"namespace", statement.whose.ns},
                    {"owner", statement.whose.owner},
                    {"lines", std::move(lines)},
                    {"totals", std::move(totals)}};
  return all.dump(2) + "\n";
}

}  // namespace gpupool::ledger
