// SPDX-License-Identifier: Apache-2.0
// A bill as tools for the costs of clouds read it: FOCUS 1.0, https://focus.finops.org.
#include <nlohmann/json.hpp>

#include "reports/fields.h"
#include "reports/statement.h"

namespace gpupool::ledger {
namespace {

constexpr char kProduct[] = "gpupool";
constexpr char kColumns[] =
    "BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,BillingPeriodEnd,"
    "BillingPeriodStart,ChargeCategory,ChargeClass,ChargeDescription,ChargeFrequency,"
    "ChargePeriodEnd,ChargePeriodStart,ConsumedQuantity,ConsumedUnit,ContractedCost,"
    "ContractedUnitPrice,EffectiveCost,InvoiceIssuerName,ListCost,ListUnitPrice,PricingCategory,"
    "PricingQuantity,PricingUnit,ProviderName,PublisherName,ResourceId,ResourceName,ResourceType,"
    "ServiceCategory,ServiceName,SkuId,SkuPriceId,SubAccountId,SubAccountName,Tags\r\n";

std::string description(const StatementLine& line) {
  if (line.corrects > 0) return line.note;
  const auto& fact = line.fact;
  const auto each =
      fact.slices > 0 ? std::to_string(fact.slices) + " of " + std::to_string(fact.split) + " slices of a GPU"
                      : std::to_string(fact.gpus) + (fact.gpus == 1 ? " GPU" : " GPUs");
  return each + " on " + std::to_string(fact.nodes.size()) + (fact.nodes.size() == 1 ? " node" : " nodes");
}

std::string row_of(const base::Month& month, const StatementLine& line) {
  const auto& fact = line.fact;
  const bool is_correction = line.corrects > 0;
  const auto cost = base::micros_text(line.amount);
  const auto price = base::micros_text(fact.per_gpu_hour);
  const auto hours = hours_text(milli_gpu_seconds(line));
  const nlohmann::json tags = {{"entry", std::to_string(line.seq)},
                               {"owner", fact.owner},
                               {"pool", fact.pool},
                               {"segment", std::to_string(fact.number)}};
  return csv_row({cost,
                  kProduct,
                  kProduct,
                  fact.currency,
                  time_text(month.end),
                  time_text(month.begin),
                  "Usage",
                  is_correction ? "Correction" : "",
                  description(line),
                  "Usage-Based",
                  time_text(is_correction ? fact.to : line.to),
                  time_text(is_correction ? fact.from : line.from),
                  hours,
                  "GPU-Hours",
                  cost,
                  price,
                  cost,
                  kProduct,
                  cost,
                  price,
                  "Standard",
                  hours,
                  "GPU-Hours",
                  kProduct,
                  fact.owner.empty() ? kProduct : fact.owner,
                  fact.job_uid,
                  fact.job,
                  "GpuJob",
                  "Compute",
                  kProduct,
                  fact.pool,
                  fact.pool + "/" + price,
                  fact.ns,
                  fact.ns,
                  tags.dump()});
}

}  // namespace

std::string as_focus(const Statement& statement) {
  std::string text = kColumns;
  for (const auto& line : statement.lines) text += row_of(statement.month, line);
  return text;
}

}  // namespace gpupool::ledger
