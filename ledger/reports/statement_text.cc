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

// What was paid in the month, and what is owed at its end; empty for a bill.
std::string payments_text(const Statement& statement) {
  if (!statement.whose.for_owner) return {};
  const auto row = [](const std::string& what, base::Micros amount, const std::string& currency) {
    return padded(what, 54) + right(base::micros_text(amount) + " " + currency, 20) + "\n";
  };
  std::string text = "\n";
  for (const auto& [seq, entered, payment] : statement.payments)
    text +=
        row("Paid to " + payment.owner + " on " + time_text(entered).substr(0, 10) + ", " + payment.reference,
            payment.amount, payment.currency);
  for (const auto& [currency, owed] : statement.owed)
    text += row("Owed at the end of " + statement.month.name, owed, currency);
  return text;
}

json payments_json(const Statement& statement) {
  json payments = json::array();
  for (const auto& [seq, entered, payment] : statement.payments)
    payments.push_back({{"entry", seq},
                        {"owner", payment.owner},
                        {"entered", time_text(entered)},
                        {"amount", base::micros_text(payment.amount)},
                        {"currency", payment.currency},
                        {"reference", payment.reference}});
  return payments;
}

json amounts_json(const std::map<std::string, base::Micros>& amounts) {
  json found = json::object();
  for (const auto& [currency, amount] : amounts) found[currency] = base::micros_text(amount);
  return found;
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
  return text + payments_text(statement);
}

std::string in_format(const Statement& statement, const std::string& format) {
  if (format == "csv") return as_csv(statement);
  if (format == "json") return as_json(statement);
  return format == "focus" ? as_focus(statement) : as_text(statement);
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

// Line by line: as one object a long bill would take many times its memory.
std::string as_json(const Statement& statement) {
  std::string lines;
  for (const auto& line : statement.lines) {
    const auto& fact = line.fact;
    const json fields = {{"entry", line.seq},
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
                         {"note", line.note}};
    lines += (lines.empty() ? "\n    " : ",\n    ") + fields.dump();
  }
  json rest = {{"month", statement.month.name},
               {"closed", statement.closing > 0},
               {"kind", statement.whose.for_owner ? "payout" : "bill"},
               {"namespace", statement.whose.ns},
               {"owner", statement.whose.owner},
               {"totals", amounts_json(statement.totals)}};
  if (statement.whose.for_owner) {
    rest["payments"] = payments_json(statement);
    rest["owed"] = amounts_json(statement.owed);
  }
  return "{\n  \"lines\": [" + lines + "],\n" + rest.dump(2).substr(2) + "\n";
}

}  // namespace gpupool::ledger
