// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/uuid_text.h"

#include <algorithm>
#include <cstddef>

#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

UuidText print_uuid(const CUuuid& uuid) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  UuidText text{};
  std::size_t at = 0;
  for (const unsigned char byte : uuid.bytes) {
    if (at == 8 || at == 13 || at == 18 || at == 23) {
      text.text[at++] = '-';
    }
    text.text[at++] = kDigits[byte >> 4U];
    text.text[at++] = kDigits[byte & 0xfU];
  }
  return text;
}

CUresult read_uuid(CUdevice device, CUuuid& uuid) {
  const CUresult result = driver::cuDeviceGetUuid_v2(&uuid, device);
  return result == kNotFound ? driver::cuDeviceGetUuid(&uuid, device) : result;
}

bool device_uuid(unsigned position, CUdevice device, UuidText& uuid) {
  const Limits& limits = session.ledger().limits();
  if (position < limits.count && limits.devices[position].uuid[0] != '\0') {
    std::copy(std::begin(limits.devices[position].uuid), std::end(limits.devices[position].uuid), uuid.text);
    return true;
  }
  CUuuid bytes{};
  if (read_uuid(device, bytes) != kSuccess) {
    return false;
  }
  const UuidText digits = print_uuid(bytes);
  constexpr std::string_view kKind = "GPU-";
  std::copy(kKind.begin(), kKind.end(), uuid.text);
  std::copy(std::begin(digits.text), std::end(digits.text) - kKind.size(), uuid.text + kKind.size());
  return true;
}

}  // namespace gpupool::limiter
