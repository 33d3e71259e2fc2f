// SPDX-License-Identifier: Apache-2.0
#include "books/entry.h"

#include <algorithm>

#include "base/wide.h"
#include "digest/sha256.h"

namespace gpupool::ledger {
namespace {

constexpr std::int64_t kPercent = 100;

}  // namespace

// Each field comes after its length, so that no two entries have the same text.
std::string hash_of(const Entry& entry, std::string_view before) {
  std::string text;
  const auto add = [&](std::string_view field) {
    text += std::to_string(field.size());
    text += ':';
    text += field;
  };
  add(before);
  add(std::to_string(entry.seq));
  add(entry.key);
  add(entry.kind);
  add(entry.body);
  add(entry.remark);
  add(std::to_string(entry.clipped));
  add(std::to_string(entry.entered));
  return digest::sha256_hex(text);
}

base::Micros amount_of(const Fact& fact, std::int64_t clipped) {
  const auto less = base::charge_for(fact.per_gpu_hour, fact.gpus, 1, clipped, 0);
  return less ? std::max<base::Micros>(0, fact.cost - less->amount) : 0;
}

base::Micros amount_until(const Fact& fact, std::int64_t clipped, std::int64_t moment) {
  return moment >= fact.to ? amount_of(fact, clipped) : cost_until(fact, moment).value_or(0);
}

base::Micros platform_part(const Fact& fact, base::Micros amount) {
  if (fact.owner.empty()) return amount;
  return static_cast<base::Micros>(base::product(amount, fact.fee) / kPercent);
}

// The fee is that of all less that of what was charged before, so that corrections add up to the fee of what
// is charged in the end.
std::vector<Posting> postings_of(const Fact& fact, base::Micros before, base::Micros after) {
  const auto cost = after - before;
  if (cost == 0) return {};
  const auto fee = platform_part(fact, after) - platform_part(fact, before);
  std::vector<Posting> postings = {{"tenant:" + fact.ns, fact.currency, -cost}};
  if (cost != fee) postings.push_back({"owner:" + fact.owner, fact.currency, cost - fee});
  if (fee != 0) postings.push_back({"platform", fact.currency, fee});
  return postings;
}

}  // namespace gpupool::ledger
