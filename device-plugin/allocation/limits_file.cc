// SPDX-License-Identifier: Apache-2.0
#include "allocation/limits_file.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace gpupool::allocation {
namespace {

constexpr std::size_t kFingerprintBytes = 16;

std::string hex(const unsigned char* bytes, std::size_t count) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 15U];
  }
  return text;
}

std::string checksum(const std::string& content) {
  const auto crc = ::crc32_z(0, reinterpret_cast<const unsigned char*>(content.data()), content.size());
  const std::array<unsigned char, 4> bytes = {
      static_cast<unsigned char>(crc >> 24U), static_cast<unsigned char>(crc >> 16U),
      static_cast<unsigned char>(crc >> 8U), static_cast<unsigned char>(crc)};
  return hex(bytes.data(), bytes.size());
}

// Of GPUs that differ the shortest wait and the largest context hold: the file has one of each.
std::string enforcement_lines(const std::vector<Device>& devices) {
  std::optional<std::int64_t> wait;
  std::int64_t context = 0;
  for (const Device& device : devices) {
    if (!device.gpu->limited) continue;
    const settings::Enforcement& enforcement = device.gpu->enforcement;
    wait = std::min(wait.value_or(enforcement.memory_wait_seconds), enforcement.memory_wait_seconds);
    context = std::max(context, enforcement.context_mib);
  }
  std::string lines;
  if (wait.value_or(0) > 0) lines += "wait " + std::to_string(*wait) + "\n";
  if (context > 0) lines += "context " + std::to_string(context) + "\n";
  return lines;
}

}  // namespace

std::string fingerprint(const std::string& content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  // Fails only without memory; the zeros would then still be a legal name.
  ::EVP_Digest(content.data(), content.size(), digest.data(), nullptr, ::EVP_sha256(), nullptr);
  return hex(digest.data(), kFingerprintBytes);
}

LimitsFile named_by_content(const std::string& prefix, std::string content) {
  std::string name = prefix + fingerprint(content);
  return {std::move(name), std::move(content)};
}

bool is_enforced(const std::vector<Device>& devices) {
  return std::any_of(devices.begin(), devices.end(), [](const Device& device) {
    return device.gpu->limited && device.gpu->enforcement.enforce == settings::Enforce::kLibrary;
  });
}

std::string limits_text(const std::vector<Device>& devices, bool enforced) {
  std::string content = "gpupool-limits 1\n";
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    content += "device " + std::to_string(i) + " " + device.visible;
    if (device.gpu->limited) {
      content += " " + std::to_string(device.memory_mib) + " " + std::to_string(device.cores) + " ";
    } else {
      content += " - - ";
    }
    for (std::size_t n = 0; n < device.ordinals.size(); ++n) {
      content += (n == 0 ? "" : ",") + std::to_string(device.ordinals[n]);
    }
    content += "\n";
  }
  if (enforced) content += enforcement_lines(devices);
  content += "crc32 " + checksum(content) + "\n";
  return content;
}

LimitsFile limits_file(const std::vector<Device>& devices) {
  return named_by_content("limits-", limits_text(devices, false));
}

}  // namespace gpupool::allocation
