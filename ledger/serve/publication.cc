// SPDX-License-Identifier: Apache-2.0
#include "serve/publication.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/month.h"
#include "base/rfc3339.h"
#include "base/unix_seconds.h"

namespace gpupool::ledger {
namespace {

using nlohmann::json;

// How long a version may wait that no entry came with.
constexpr auto kLazily = std::chrono::seconds(10);
// No GpuJob is as old.
constexpr char kNoVersion[] = "0";

// An empty text is refused by Kubernetes 1.20; null removes the field.
json text_or_nothing(const std::string& text) { return text.empty() ? json() : json(text); }

base::Result<void> without_body(const base::Result<std::string>& answer) {
  if (!answer) return tl::unexpected<base::Error>(answer.error());
  return {};
}

}  // namespace

Publication::Publication(kube::Client& client, Books& books, Intake& intake, JobFeed& jobs,
                         const runtime::Store<api::GpuAccount>& accounts, const base::Clock& clock,
                         const base::Log& log)
    : client_(client),
      books_(books),
      intake_(intake),
      jobs_(jobs),
      accounts_(accounts),
      clock_(clock),
      log_(log) {}

base::Result<bool> Publication::agrees(const std::stop_token& stop) {
  const auto ledger = kube::get<api::GpuLedger>(client_, {"", api::kTheLedger}, stop);
  if (ledger) return books_.contains({ledger->status.head.seq, ledger->status.head.hash});
  if (ledger.error().code != base::ErrorCode::kNotFound) return tl::unexpected<base::Error>(ledger.error());
  const json made = {{"apiVersion", "gpupool.dev/v1alpha1"},
                     {"kind", api::GpuLedger::kType.kind},
                     {"metadata", {{"name", api::kTheLedger}}}};
  const auto created = client_.create(api::GpuLedger::kType, "", made.dump(), stop);
  if (!created && created.error().code != base::ErrorCode::kAlreadyExists)
    return tl::unexpected<base::Error>(created.error());
  return true;
}

base::Result<Head> Publication::adopt(const std::stop_token& stop) {
  const auto head = books_.head();
  if (!head) return head;
  if (const auto written = write_ledger(kNoVersion, *head, stop); !written)
    return tl::unexpected<base::Error>(written.error());
  return head;
}

base::Result<void> Publication::write_ledger(const std::string& version, const Head& head,
                                             const std::stop_token& stop) {
  const json patch = {{"status",
                       {{"throughVersion", version},
                        {"asOf", base::to_rfc3339(clock_.wall())},
                        {"head", {{"seq", head.seq}, {"hash", text_or_nothing(head.hash)}}}}}};
  return without_body(client_.patch(api::GpuLedger::kType, {"", api::kTheLedger}, kube::PatchType::kMerge,
                                    patch.dump(), "status", stop));
}

// due: it is to name this version though nothing was spent.
base::Result<void> Publication::write_account(const api::GpuAccount& account, const std::string& version,
                                              bool due, const std::stop_token& stop) {
  const auto& spec = account.spec;
  const auto now = clock_.wall();
  const auto month = account.by_month() ? base::month_of(base::unix_seconds(now)).name : std::string();
  base::Micros spent = 0;
  for (const auto& ns : spec.namespaces) spent += spending_.of(ns, spec.currency, month);
  const auto text = base::micros_text(spent);
  if (!due && account.status.spent == text && account.status.month == month) return {};
  json status = {{"spent", text}, {"throughVersion", version}, {"asOf", base::to_rfc3339(now)}};
  status["month"] = text_or_nothing(month);
  const auto budget = spec.budget ? base::parse_micros(spec.budget->amount) : std::nullopt;
  status["left"] = budget ? json(base::micros_text(*budget - spent)) : json();
  return without_body(client_.patch(api::GpuAccount::kType, account.metadata.key(), kube::PatchType::kMerge,
                                    json({{"status", status}}).dump(), "status", stop));
}

bool Publication::publish(const std::stop_token& stop) {
  // In this order: the version contains these changes, and is in the books if nothing is left afterwards.
  changed_.merge(jobs_.take_changed());
  const auto version = jobs_.version();
  if (version.empty() || !intake_.stored()) return false;
  const auto head = books_.head();
  if (!head) return fail(head.error());
  const bool news = head_ != *head;
  const bool due = !written_ || (!changed_.empty() && clock_.now() - *written_ >= kLazily);
  if (const auto read = spending_.read(books_); !read) return fail(read.error());
  for (const auto& account : accounts_.list()) {
    const bool moved =
        std::ranges::any_of(account->spec.namespaces, [&](const auto& ns) { return changed_.contains(ns); });
    const auto written = write_account(*account, version, (news || due) && moved, stop);
    if (!written && written.error().code != base::ErrorCode::kNotFound) return fail(written.error());
  }
  if (news || due) {
    if (const auto written = write_ledger(version, *head, stop); !written) return fail(written.error());
    head_ = *head;
    written_ = clock_.now();
    changed_.clear();
  }
  if (std::exchange(failing_, false)) log_.info("the cluster knows again how far the books have come");
  return true;
}

bool Publication::fail(const base::Error& error) {
  if (!std::exchange(failing_, true))
    log_.error("cannot tell the cluster how far the books have come; trying again",
               {{"error", error.message}});
  return false;
}

}  // namespace gpupool::ledger
