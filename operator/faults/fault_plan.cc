// SPDX-License-Identifier: Apache-2.0
#include "faults/fault_plan.h"

#include <vector>

namespace gpupool::faults {
namespace {

// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

// FNV-1a: the same result on every machine, unlike std::hash.
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return value;
}

double fraction(std::uint64_t value) { return static_cast<double>(value >> 11) * 0x1.0p-53; }

}  // namespace

std::optional<FaultPlan::Decision> FaultPlan::decide(Places place, const std::string& key) {
  std::uint64_t call = 0;
  {
    const base::MutexLock lock(mutex_);
    call = calls_[std::to_string(place) + key]++;
  }
  const auto first = mix(config_.seed ^ mix(hash(key) ^ mix(call ^ (std::uint64_t{place} << 56))));
  if (fraction(first) >= config_.rate) return std::nullopt;
  std::vector<Fault> possible;
  for (const auto& kind : fault_kinds()) {
    if ((kind.places & place) == 0) continue;
    if (config_.kinds.empty() || config_.kinds.contains(kind.fault)) possible.push_back(kind.fault);
  }
  if (possible.empty()) return std::nullopt;
  const auto second = mix(first);
  return Decision{possible[second % possible.size()], mix(second)};
}

Places place_of(const net::HttpRequest& request) {
  if (request.method == "POST") return kCreate;
  if (request.method != "GET") return kChange;
  const auto query = request.target.find('?');
  if (query == std::string::npos) return kGet;
  return request.target.find("watch=", query) == std::string::npos ? kList : kWatch;
}

std::string key_of(const net::HttpRequest& request) {
  return request.method + " " + request.target.substr(0, request.target.find('?'));
}

}  // namespace gpupool::faults
