// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/gpu_amount.h"

#include <algorithm>

namespace gpupool::planning {
namespace {

constexpr std::int64_t kPercent = 100;

std::int64_t rate_of(const api::PoolQueueSpec& spec, const std::string& model) {
  const auto rate = std::ranges::find(spec.rates, model, &api::ModelRate::model);
  return rate == spec.rates.end() ? kPercent : rate->percent;
}

}  // namespace

MilliGpus gpu_amount(const api::PoolQueueSpec& spec, const std::string& model, std::int64_t gpus) {
  return gpus * kMilli * rate_of(spec, model) / kPercent;
}

MilliGpus slice_amount(const api::PoolQueueSpec& spec, const std::string& model, std::int64_t slices,
                       std::int64_t of) {
  const auto parts = of * kPercent;
  return (slices * kMilli * rate_of(spec, model) + parts - 1) / parts;
}

std::string amount_text(MilliGpus amount) {
  return amount % kMilli == 0 ? std::to_string(amount / kMilli) : std::to_string(amount) + "m";
}

}  // namespace gpupool::planning
