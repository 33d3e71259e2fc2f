// SPDX-License-Identifier: Apache-2.0
#include "slices/offers_in_use.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "slices/wanted_offers.h"

namespace gpupool::slices {
namespace {

std::optional<std::int64_t> ordinal_of(const std::string& id, const std::string& uuid) {
  if (id == uuid) return 0;
  const std::string prefix = uuid + "::";
  if (!id.starts_with(prefix)) return std::nullopt;
  std::int64_t ordinal = 0;
  const char* end = id.data() + id.size();
  const auto parsed = std::from_chars(id.data() + prefix.size(), end, ordinal);
  if (parsed.ec != std::errc{} || parsed.ptr != end || ordinal < 0) return std::nullopt;
  return ordinal;
}

bool has(const std::vector<Offer>& offers, const std::string& id) {
  return std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) {
    return std::any_of(offer.slices.begin(), offer.slices.end(),
                       [&](const Slice& slice) { return slice.id == id; });
  });
}

}  // namespace

std::vector<Offer> offers_in_use(const inventory::Gpu& gpu, const std::vector<Offer>& wanted,
                                 const std::set<std::string>& in_use) {
  Offer found{wanted.empty() ? kSliceResource : wanted.front().resource, physical(gpu), {}};
  bool strange = false;
  for (const std::string& id : in_use) {
    const auto ordinal = ordinal_of(id, gpu.uuid);
    if (!ordinal) continue;
    strange = strange || !has(wanted, id);
    Slice slice;
    if (!wanted.empty()) slice = wanted.front().slices.front();
    slice.id = id;
    slice.gpu = gpu.uuid;
    slice.visible = gpu.uuid;
    slice.ordinal = *ordinal;
    found.slices.push_back(std::move(slice));
  }
  if (!strange) return {};
  std::sort(found.slices.begin(), found.slices.end(),
            [](const Slice& a, const Slice& b) { return a.ordinal < b.ordinal; });
  found.gpu.split_count = static_cast<std::int64_t>(found.slices.size());
  found.gpu.limited = true;
  return {found};
}

}  // namespace gpupool::slices
