// SPDX-License-Identifier: Apache-2.0
#include "planning/slices/slice_size.h"

#include <algorithm>
#include <limits>

#include "base/quantity.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1024} * 1024;
constexpr std::int64_t kNever = std::numeric_limits<std::int32_t>::max();

std::int64_t divide_up(std::int64_t amount, std::int64_t by) {
  if (amount <= 0) return 0;
  return by <= 0 ? kNever : (amount - 1) / by + 1;
}

}  // namespace

std::string SliceNeed::text() const {
  if (single_gpus > 0) return std::to_string(single_gpus) + (single_gpus == 1 ? " GPU" : " GPUs");
  if (whole_gpus > 0) return std::to_string(whole_gpus) + (whole_gpus == 1 ? " whole GPU" : " whole GPUs");
  if (count > 0) return std::to_string(count) + (count == 1 ? " slice" : " slices");
  std::string parts;
  if (memory > 0) parts = base::format_binary(memory);
  if (cores > 0) parts += (parts.empty() ? "" : " and ") + std::to_string(cores) + " % cores";
  return "slices of " + parts;
}

SliceNeed need_of(const api::GpuJobSpec& spec, bool unit_is_gpu) {
  SliceNeed need;
  if (unit_is_gpu) {
    need.single_gpus = api::gpus_of_each_worker(spec);
    return need;
  }
  if (!spec.slice) {
    need.whole_gpus = api::gpus_of_each_worker(spec);
    return need;
  }
  need.count = spec.slice->count.value_or(0);
  need.memory = spec.slice->memory.empty() ? 0 : base::parse_quantity(spec.slice->memory).value_or(0);
  need.cores = spec.slice->cores.value_or(0);
  return need;
}

std::int64_t slices_for(const SliceNeed& need, const SliceSize& size) {
  if (need.single_gpus > 0) return need.single_gpus;
  if (need.whole_gpus > 0) return need.whole_gpus * size.count;
  if (need.count > 0) return need.count;
  const auto mebibytes = divide_up(need.memory, kMiB);
  return std::max(
      {std::int64_t{1}, divide_up(mebibytes, size.memory_mib), divide_up(need.cores, size.cores)});
}

}  // namespace gpupool::planning
