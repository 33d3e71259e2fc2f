// SPDX-License-Identifier: Apache-2.0
#include "slices/saved_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace gpupool::slices {
namespace {

constexpr std::int64_t kFormat = 1;

struct SavedResource {
  std::string name;
  std::vector<SlicedGpu> gpus;
  std::vector<Slice> slices;
};
struct Saved {
  std::int64_t format = 0;
  std::vector<SavedResource> resources;
};

// Sums of numbers up to this limit do not overflow, even if the file is damaged.
bool is_sane(std::int64_t number) { return number >= -1 && number <= (std::int64_t{1} << 30); }

bool is_sane(const SlicedGpu& gpu) {
  return is_sane(gpu.index) && is_sane(gpu.minor) && is_sane(gpu.numa_node) && is_sane(gpu.split_count);
}

bool is_sane(const Slice& slice) {
  return is_sane(slice.ordinal) && is_sane(slice.memory_mib) && is_sane(slice.cores);
}

template <class T>
bool all_sane(const std::vector<T>& list) {
  return std::all_of(list.begin(), list.end(), [](const T& one) { return is_sane(one); });
}

}  // namespace
}  // namespace gpupool::slices

template <>
struct gpupool::base::json::Schema<gpupool::slices::SlicedGpu> {
  using T = slices::SlicedGpu;
  static constexpr auto fields = std::array{field<&T::uuid>("uuid"),
                                            field<&T::index>("index"),
                                            field<&T::minor>("minor"),
                                            field<&T::numa_node>("numaNode"),
                                            field<&T::split_count>("splitCount"),
                                            field<&T::limited>("limited")};
};
template <>
struct gpupool::base::json::Schema<gpupool::slices::Slice> {
  using T = slices::Slice;
  static constexpr auto fields = std::array{field<&T::id>("id"),
                                            field<&T::gpu>("gpu"),
                                            field<&T::visible>("visible"),
                                            field<&T::ordinal>("ordinal"),
                                            field<&T::memory_mib>("memoryMiB"),
                                            field<&T::cores>("cores"),
                                            field<&T::healthy>("healthy"),
                                            field<&T::unhealthy_reason>("reason")};
};
template <>
struct gpupool::base::json::Schema<gpupool::slices::SavedResource> {
  using T = slices::SavedResource;
  static constexpr auto fields =
      std::array{field<&T::name>("name"), field<&T::gpus>("gpus"), field<&T::slices>("slices")};
};
template <>
struct gpupool::base::json::Schema<gpupool::slices::Saved> {
  using T = slices::Saved;
  static constexpr auto fields = std::array{field<&T::format>("format"), field<&T::resources>("resources")};
};

namespace gpupool::slices {

std::string save(const Table& table) {
  nlohmann::json resources = nlohmann::json::array();
  for (const Resource& resource : table.resources) {
    nlohmann::json gpus = nlohmann::json::array();
    for (const SlicedGpu& gpu : resource.gpus) {
      gpus.push_back({{"uuid", gpu.uuid},
                      {"index", gpu.index},
                      {"minor", gpu.minor},
                      {"numaNode", gpu.numa_node},
                      {"splitCount", gpu.split_count},
                      {"limited", gpu.limited}});
    }
    nlohmann::json slices = nlohmann::json::array();
    for (const Slice& slice : resource.slices) {
      slices.push_back({{"id", slice.id},
                        {"gpu", slice.gpu},
                        {"visible", slice.visible},
                        {"ordinal", slice.ordinal},
                        {"memoryMiB", slice.memory_mib},
                        {"cores", slice.cores},
                        {"healthy", slice.healthy},
                        {"reason", slice.unhealthy_reason}});
    }
    resources.push_back({{"name", resource.name}, {"gpus", std::move(gpus)}, {"slices", std::move(slices)}});
  }
  const nlohmann::json saved = {{"format", kFormat}, {"resources", std::move(resources)}};
  return saved.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

base::Result<Table> restore(std::string_view text) {
  auto saved = base::json::read<Saved>(text);
  if (!saved) return base::in_context(saved.error(), "the saved slice table");
  if (saved->format != kFormat) {
    return base::fail(base::ErrorCode::kParse, "the saved slice table has format " +
                                                   std::to_string(saved->format) + ", known is " +
                                                   std::to_string(kFormat));
  }
  Table table;
  for (SavedResource& resource : saved->resources) {
    if (!all_sane(resource.gpus) || !all_sane(resource.slices)) {
      return base::fail(base::ErrorCode::kParse, "the saved slice table holds numbers that no GPU has");
    }
    table.resources.push_back({std::move(resource.name), settings::Policy::kPack, std::move(resource.gpus),
                               std::move(resource.slices)});
  }
  return table;
}

}  // namespace gpupool::slices
