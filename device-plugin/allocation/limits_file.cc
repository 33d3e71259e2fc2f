// SPDX-License-Identifier: Apache-2.0
#include "allocation/limits_file.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <array>
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

LimitsFile limits_file(const std::vector<Device>& devices) {
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
  content += "crc32 " + checksum(content) + "\n";
  return named_by_content("limits-", std::move(content));
}

}  // namespace gpupool::allocation
