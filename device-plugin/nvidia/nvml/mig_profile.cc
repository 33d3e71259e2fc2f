// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/mig_profile.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace gpupool::nvidia {

namespace {

// Takes "<digits><suffix>" off the front.
bool take_number(std::string_view& text, std::string_view suffix) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto digits =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  if (digits == 0 || !text.substr(digits).starts_with(suffix)) return false;
  text.remove_prefix(digits + suffix.size());
  return true;
}

bool is_profile(std::string_view text) {
  take_number(text, "c.");
  if (!take_number(text, "g.") || !take_number(text, "gb")) return false;
  if (text.empty()) return true;
  const bool sign = text.front() == '+' || text.front() == '-';
  const auto allowed = [](unsigned char c) { return std::islower(c) != 0 || c == '.' || c == ','; };
  return sign && text.size() > 1 && std::all_of(text.begin() + 1, text.end(), allowed);
}

}  // namespace

std::string mig_profile_in_name(const std::string& device_name) {
  constexpr std::string_view kBefore = "MIG ";
  const auto at = device_name.rfind(kBefore);
  if (at == std::string::npos) return {};
  std::string profile = device_name.substr(at + kBefore.size());
  return is_profile(profile) ? profile : std::string();
}

std::string mig_profile_of_size(std::int64_t gpu_slices, std::int64_t compute_slices,
                                std::int64_t instance_mib, std::int64_t gpu_mib) {
  if (gpu_slices <= 0 || gpu_mib <= 0) return {};
  const std::int64_t eighths = (instance_mib * 8 + gpu_mib - 1) / gpu_mib;
  const std::int64_t gpu_gib = (gpu_mib + 1023) / 1024;
  const std::int64_t gib = (eighths * gpu_gib + 4) / 8;
  std::string profile = std::to_string(gpu_slices) + "g." + std::to_string(gib) + "gb";
  if (compute_slices > 0 && compute_slices != gpu_slices) {
    profile.insert(0, std::to_string(compute_slices) + "c.");
  }
  return profile;
}

}  // namespace gpupool::nvidia
