// SPDX-License-Identifier: Apache-2.0
#include "bills/running_bill.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_account.h"
#include "api/v1alpha1/gpu_job.h"
#include "base/money.h"
#include "base/unix_seconds.h"
#include "kube/client.h"
#include "objects/output.h"
#include "planning/accounts/charge.h"
#include "screen/plain_text.h"
#include "screen/table.h"

namespace gpupool::bills {
namespace {

constexpr char kHint[] =
    "Jobs that were deleted are not in it: kubectl gpupool bill --month shows them, by the books.\n";

struct BilledJob {
  std::string ns;
  std::string name;
  std::string phase;
  std::string currency;
  std::int64_t gpu_seconds = 0;
  base::Micros cost = 0;      // until now
  base::Micros per_hour = 0;  // of what it holds now
};

// Nothing: the job has held nothing that has a price.
std::optional<BilledJob> billed(const api::GpuJob& job, std::int64_t now) {
  const auto* bill = job.status.bill();
  if (bill == nullptr) return std::nullopt;
  const auto currency =
      bill->currency.empty() && !bill->open.empty() ? bill->open.front().terms.currency : bill->currency;
  auto charge = planning::charge_of(job, currency);
  std::erase_if(charge, [](const auto& time) { return time.to.has_value(); });  // in bill->cost
  BilledJob line{job.metadata.ns, job.metadata.name, job.status.phase.string(), currency};
  line.gpu_seconds = bill->gpu_seconds;
  for (const auto& time : charge) {
    if (time.from && now > *time.from) line.gpu_seconds += time.units * (now - *time.from) / time.split;
  }
  line.cost = base::parse_micros(bill->cost).value_or(0) + planning::cost_in(charge, {0, now}, 0);
  line.per_hour = planning::hourly_rate(charge);
  return line;
}

std::string hours(std::int64_t gpu_seconds) {
  const auto text = base::micros_text(gpu_seconds * 10'000 / 36);
  return text.substr(0, text.size() - 3);
}

// The account that pays for the namespace; nothing: there is none, or the caller may not know it.
base::Result<std::optional<api::GpuAccount>> account_of(command::Session& session, const std::string& ns,
                                                        const std::stop_token& stop) {
  const auto accounts = kube::list<api::GpuAccount>(session.client(), "", {}, stop);
  if (!accounts) {
    const auto code = accounts.error().code;
    if (code == base::ErrorCode::kForbidden || code == base::ErrorCode::kNotFound) return std::nullopt;
    return tl::unexpected<base::Error>(accounts.error());
  }
  std::optional<api::GpuAccount> found;
  for (const auto& account : *accounts) {
    const bool pays = std::ranges::find(account.spec.namespaces, ns) != account.spec.namespaces.end();
    if (pays && (!found || account.metadata.name < found->metadata.name)) found = account;
  }
  return found;
}

std::string account_line(const api::GpuAccount& account) {
  const auto& spec = account.spec;
  const auto& spent = account.status.spent;
  std::string text = "Account " + account.metadata.name + ": " + (spent.empty() ? "0.000000" : spent);
  if (spec.budget) text += " of " + spec.budget->amount;
  text += " " + spec.currency + " spent";
  if (!account.status.month.empty()) text += " in " + account.status.month;
  return screen::plain_text(text) + ", by the books\n";
}

std::map<std::string, base::Micros> totals(const std::vector<BilledJob>& lines) {
  std::map<std::string, base::Micros> sums;
  for (const auto& line : lines) sums[line.currency] += line.cost;
  return sums;
}

screen::Table table_of(const std::vector<BilledJob>& lines, bool all_namespaces) {
  std::vector<screen::Column> columns = {{"NAME"}, {"PHASE"}, {"GPU-HOURS"}, {"COST"}, {"AN HOUR"}};
  if (all_namespaces) columns.insert(columns.begin(), {"NAMESPACE"});
  screen::Table table(std::move(columns));
  for (const auto& line : lines) {
    std::vector<screen::Cell> cells = {{line.name},
                                       {line.phase},
                                       {hours(line.gpu_seconds)},
                                       {base::micros_text(line.cost) + " " + line.currency},
                                       {line.per_hour > 0 ? base::micros_text(line.per_hour) : ""}};
    if (all_namespaces) cells.insert(cells.begin(), {line.ns});
    table.add(std::move(cells));
  }
  return table;
}

void print(const std::vector<BilledJob>& lines, const std::optional<api::GpuAccount>& account,
           bool all_namespaces, command::Context& context) {
  if (lines.empty()) {
    context.err << "No job has held anything that has a price. " << kHint;
  } else {
    context.out << table_of(lines, all_namespaces).text(context.terminal);
    for (const auto& [currency, total] : totals(lines))
      context.out << "Total: " << base::micros_text(total) << " " << screen::plain_text(currency) << "\n";
    context.err << kHint;
  }
  if (account) context.out << account_line(*account);
}

std::string json_of(const std::vector<BilledJob>& lines, const std::optional<api::GpuAccount>& account) {
  auto items = nlohmann::ordered_json::array();
  for (const auto& line : lines) {
    items.push_back({{"namespace", line.ns},
                     {"name", line.name},
                     {"phase", line.phase},
                     {"gpuSeconds", line.gpu_seconds},
                     {"cost", base::micros_text(line.cost)},
                     {"perHour", base::micros_text(line.per_hour)},
                     {"currency", line.currency}});
  }
  auto sums = nlohmann::ordered_json::object();
  for (const auto& [currency, total] : totals(lines)) sums[currency] = base::micros_text(total);
  nlohmann::ordered_json bill{{"apiVersion", objects::kOutputVersion},
                              {"kind", "Bill"},
                              {"items", std::move(items)},
                              {"totals", std::move(sums)}};
  if (account) {
    nlohmann::ordered_json told{{"name", account->metadata.name},
                                {"currency", account->spec.currency},
                                {"spent", account->status.spent}};
    if (account->spec.budget) told["budget"] = account->spec.budget->amount;
    if (!account->status.month.empty()) told["month"] = account->status.month;
    bill["account"] = std::move(told);
  }
  return bill.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

base::Result<int> show_running_bill(bool all_namespaces, const std::string& output,
                                    command::Context& context) {
  const auto session = context.session();
  if (!session) return tl::unexpected<base::Error>(session.error());
  const std::string ns = all_namespaces ? "" : (*session)->ns();
  const auto jobs = kube::list<api::GpuJob>((*session)->client(), ns, {}, context.stop);
  if (!jobs) return tl::unexpected<base::Error>(jobs.error());
  const auto now = base::unix_seconds((*session)->clock().wall());
  std::vector<BilledJob> lines;
  for (const auto& job : *jobs) {
    if (auto line = billed(job, now)) lines.push_back(*std::move(line));
  }
  std::ranges::sort(lines, {}, [](const auto& line) { return std::tie(line.ns, line.name); });
  std::optional<api::GpuAccount> account;
  if (!ns.empty()) {
    auto read = account_of(**session, ns, context.stop);
    if (!read) return tl::unexpected<base::Error>(read.error());
    account = *std::move(read);
  }
  if (output.empty()) {
    print(lines, account, all_namespaces, context);
  } else {
    context.out << objects::printed(json_of(lines, account), output);
  }
  return command::exit_code::kGood;
}

}  // namespace gpupool::bills
