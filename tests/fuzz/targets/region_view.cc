// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "limiter/region/view.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace limiter = gpupool::limiter;
namespace view = gpupool::limiter::view;

namespace {

template <std::size_t Size>
void check_text(const std::array<char, Size>& text) {
  require(text[Size - 1] == '\0', "a text ends");
  for (const char c : std::string(text.data())) require(c > ' ' && c < '\x7f', "a text is printable");
}

void check_region(std::span<const std::byte> bytes) {
  const auto region = view::read(bytes);
  require(region.has_value() == (view::kind(bytes) == view::Kind::kRegion), "what is a region can be read");
  for (unsigned slot = 0; slot < limiter::kMaxSlots + 2; ++slot) {
    require(!view::read_slot(bytes, slot) || region, "slots are of regions");
  }
  if (!region) return;
  require(region->device_count <= limiter::kMaxDevices && region->slot_count <= limiter::kMaxSlots,
          "counts are bounded");
  for (const auto& name : region->unknown_names) check_text(name);
  for (const auto& device : region->devices) {
    check_text(device.uuid);
    std::uint64_t parts = device.pending;
    for (const auto part : device.classes) parts = limiter::add_up(parts, part);
    require(parts == device.used, "the parts are the whole");
  }
  const auto nobody = view::read(bytes, [](unsigned) { return false; });
  for (const auto& device : nobody->devices)
    require(device.used == 0, "slots that are not counted count nothing");
}

}  // namespace

// The bytes as they are; then behind a good header, written over the whole region again and again.
void fuzz_region_view(std::string_view input) {
  check_region(std::as_bytes(std::span(input)));
  if (input.empty()) return;
  static std::vector<std::byte> bytes(sizeof(limiter::Region));
  constexpr std::size_t kHeader = 16;
  const std::uint64_t header[] = {limiter::kRegionMagic, limiter::kRegionLayout | sizeof(limiter::Region)
                                                                                      << 32U};
  std::memcpy(bytes.data(), header, kHeader);
  for (std::size_t at = kHeader; at < bytes.size();) {
    const std::size_t length = std::min(input.size(), bytes.size() - at);
    std::memcpy(bytes.data() + at, input.data(), length);
    at += length;
  }
  check_region(bytes);
}
