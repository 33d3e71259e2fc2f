// SPDX-License-Identifier: Apache-2.0
#include "runtime/leader/election_lease.h"

#include <charconv>

namespace gpupool::runtime {
namespace {

using base::json::quote;

std::string spec_json(const ElectionRecord& record) {
  return "{\"holderIdentity\":" + quote(record.holder) +
         ",\"leaseDurationSeconds\":" + std::to_string(record.duration_seconds) +
         ",\"acquireTime\":" + quote(record.acquire_time) + ",\"renewTime\":" + quote(record.renew_time) +
         ",\"leaseTransitions\":" + std::to_string(record.transitions) + "}";
}

std::string annotations_json(const DataVersion& data) {
  return "\"annotations\":{" + quote(data.annotation) + ":" + quote(std::to_string(data.version)) + "}";
}

}  // namespace

std::int64_t stored_version(const ElectionLease& lease, const std::string& annotation) {
  const auto found = lease.metadata.annotations.find(annotation);
  if (found == lease.metadata.annotations.end()) return 0;
  const auto& text = found->second;
  std::int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc() && end == text.data() + text.size() ? version : 0;
}

std::string election_lease_body(const api::ObjectKey& key, const ElectionRecord& record,
                                const DataVersion& data) {
  return R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":)" + quote(key.ns) +
         ",\"name\":" + quote(key.name) + "," + annotations_json(data) + "},\"spec\":" + spec_json(record) +
         "}";
}

std::string election_lease_patch(const std::string& resource_version, const ElectionRecord& record,
                                 const DataVersion& data) {
  return "{\"metadata\":{\"resourceVersion\":" + quote(resource_version) + "," + annotations_json(data) +
         "},\"spec\":" + spec_json(record) + "}";
}

}  // namespace gpupool::runtime
