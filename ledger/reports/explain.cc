// SPDX-License-Identifier: Apache-2.0
#include "reports/explain.h"

#include "books/change.h"

namespace gpupool::ledger {
namespace {

std::string arithmetic_of(const Fact& fact) {
  const auto each = fact.slices > 0 ? std::to_string(fact.slices) + "/" + std::to_string(fact.split) + " GPU"
                                    : std::to_string(fact.gpus) + (fact.gpus == 1 ? " GPU" : " GPUs");
  return std::to_string(fact.to - fact.from) + " s x " + std::to_string(fact.nodes.size()) +
         (fact.nodes.size() == 1 ? " node x " : " nodes x ") + each + " x " +
         base::micros_text(fact.per_gpu_hour) + " " + fact.currency +
         " per GPU-hour = " + base::micros_text(fact.cost);
}

std::string correction_of(const Change& change) {
  return "of entry " + std::to_string(change.corrects) + ": " + base::micros_text(change.after) + " " +
         change.fact.currency + " in place of " + base::micros_text(change.before) + "; " + change.reason;
}

std::string explanation_of(const Entry& entry, const Change& change) {
  const auto& fact = change.fact;
  std::string text = "entry " + std::to_string(entry.seq) + " (" + entry.kind + "), segment " + fact.key() +
                     " of " + fact.ns + "/" + fact.job + ":\n  " +
                     (change.corrects > 0 ? correction_of(change) : arithmetic_of(fact)) + "\n";
  if (!entry.remark.empty()) text += "  " + entry.remark + "\n";
  for (const auto& posting : postings_of(fact, change.before, change.after))
    text += "  " + posting.account + ": " + base::micros_text(posting.amount) + "\n";
  return text;
}

}  // namespace

base::Result<std::string> explain(Books& books, const std::string& job, std::int64_t since) {
  std::string text;
  const auto slash = job.find('/');
  const auto mention =
      slash == std::string::npos ? mention_of("jobUid", job) : mention_of("job", job.substr(slash + 1));
  const auto visit = [&](const Entry& entry) {
    if (!is_change(entry)) return true;
    const auto change = change_of(entry);
    if (change && change->fact.from >= since &&
        (job == change->fact.job_uid || job == change->fact.ns + "/" + change->fact.job))
      text += explanation_of(entry, *change);
    return true;
  };
  const auto all = books.each_entry(visit, 0, mention);
  if (!all) return tl::unexpected<base::Error>(all.error());
  if (text.empty())
    return tl::unexpected<base::Error>({base::ErrorCode::kNotFound,
                                        "the books have nothing of job " + job +
                                            "; give NAMESPACE/NAME or its UID. What it holds now is in its "
                                            "status, not in the books",
                                        404});
  return text;
}

}  // namespace gpupool::ledger
