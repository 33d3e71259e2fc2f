// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "limiter/limits/crc32.h"
#include "limiter/limits/limits.h"
#include "limiter/limits/words.h"

namespace gpupool::limiter {
namespace {

constexpr std::string_view kFirstLine = "gpupool-limits 1";
constexpr std::string_view kChecksum = "crc32 ";
constexpr std::uint64_t kMib = 1ULL << 20U;

Limits bad_limits(const char* problem) {
  Limits limits{};
  limits.source = Limits::Source::kBad;
  limits.problem = problem;
  return limits;
}

// Takes the last line, which must be the checksum of all before it, off the end.
bool take_checksum(std::string_view& content) {
  if (content.empty() || content.back() != '\n') return false;
  const std::string_view lines = piece(content, 0, content.size() - 1);
  const std::size_t before = lines.rfind('\n');
  if (before == std::string_view::npos) return false;
  std::string_view last = piece(lines, before + 1, std::string_view::npos);
  if (!last.starts_with(kChecksum)) return false;
  last.remove_prefix(kChecksum.size());
  if (last.size() != 8) return false;
  content = piece(content, 0, before + 1);
  const std::uint32_t sum = crc32(content);
  for (unsigned i = 0; i < 8; ++i) {
    if (last[i] != "0123456789abcdef"[sum >> (28U - 4U * i) & 15U]) return false;
  }
  return true;
}

bool uuid_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '/' ||
         c == '_' || c == '.';
}

bool take_uuid(std::string_view word, char (&uuid)[64]) {
  if (word.empty() || word.size() >= sizeof(uuid)) return false;
  for (const char c : word) {
    if (!uuid_character(c)) return false;
  }
  std::memcpy(uuid, word.data(), word.size());
  return true;
}

// ORDINAL UUID MIB CORES SLICES
const char* take_device(std::string_view line, Limits& limits) {
  if (limits.count == kMaxDevices) return "more devices than the limiter knows";
  std::uint64_t ordinal = 0;
  if (!parse_number(take_until(line, ' '), kMaxDevices, ordinal) || ordinal != limits.count) {
    return "devices are not in order";
  }
  DeviceLimit device{};
  const std::string_view uuid = take_until(line, ' ');
  if (!take_uuid(uuid, device.uuid)) return "a device has no UUID";
  if (find_device(limits, uuid) != limits.count) return "a device is there twice";
  std::uint64_t number = 0;
  if (const std::string_view memory = take_until(line, ' '); memory != "-") {
    if (!parse_number(memory, kMaxMib, number) || number == 0) return "a device's memory is no number of MiB";
    device.limited = true;
    device.bytes = number * kMib;
  }
  if (const std::string_view cores = take_until(line, ' '); cores != "-") {
    if (!parse_number(cores, 100, number) || number == 0)
      return "a device's share of the cores is no percentage";
    device.cores = static_cast<unsigned>(number);
  }
  if (line.empty()) return "a device has no slices";
  limits.devices[limits.count++] = device;
  return nullptr;
}

const char* take_line(std::string_view line, Limits& limits) {
  const std::string_view word = take_until(line, ' ');
  std::uint64_t number = 0;
  if (word == "device") return take_device(line, limits);
  if (word == "wait") {
    if (!parse_number(line, kMaxWaitSeconds, number)) return "the time to wait is no number of seconds";
    limits.wait_seconds = static_cast<unsigned>(number);
  } else if (word == "context") {
    if (!parse_number(line, kMaxMib, number)) return "the size of a context is no number of MiB";
    limits.context_bytes = number * kMib;
  }
  return nullptr;
}

}  // namespace

Limits parse_limits(std::string_view content) {
  if (content.size() > kMaxLimitsFile) return bad_limits("the file is too long");
  if (!take_checksum(content)) return bad_limits("the checksum is missing or wrong");
  if (take_until(content, '\n') != kFirstLine) return bad_limits("the file is of another version");
  Limits limits{};
  limits.source = Limits::Source::kFile;
  while (!content.empty()) {
    const char* const problem = take_line(take_until(content, '\n'), limits);
    if (problem != nullptr) return bad_limits(problem);
  }
  return limits;
}

}  // namespace gpupool::limiter
