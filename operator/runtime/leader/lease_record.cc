#include "runtime/leader/lease_record.h"

#include <charconv>

namespace gpupool::runtime {
namespace {

using base::json::quote;

std::string spec_json(const LeaseRecord& record) {
  return "{\"holderIdentity\":" + quote(record.holder) +
         ",\"leaseDurationSeconds\":" + std::to_string(record.duration_seconds) +
         ",\"acquireTime\":" + quote(record.acquire_time) + ",\"renewTime\":" + quote(record.renew_time) +
         ",\"leaseTransitions\":" + std::to_string(record.transitions) + "}";
}

std::string annotations_json(std::int64_t data_version) {
  return "\"annotations\":{" + quote(kDataVersionAnnotation) + ":" + quote(std::to_string(data_version)) +
         "}";
}

}  // namespace

std::int64_t data_version(const Lease& lease) {
  const auto found = lease.metadata.annotations.find(kDataVersionAnnotation);
  if (found == lease.metadata.annotations.end()) return 0;
  const auto& text = found->second;
  std::int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc() && end == text.data() + text.size() ? version : 0;
}

std::string lease_body(const api::ObjectKey& key, const LeaseRecord& record, std::int64_t data_version) {
  return R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":)" + quote(key.ns) +
         ",\"name\":" + quote(key.name) + "," + annotations_json(data_version) +
         "},\"spec\":" + spec_json(record) + "}";
}

std::string lease_patch(const std::string& resource_version, const LeaseRecord& record,
                        std::int64_t data_version) {
  return "{\"metadata\":{\"resourceVersion\":" + quote(resource_version) + "," +
         annotations_json(data_version) + "},\"spec\":" + spec_json(record) + "}";
}

}  // namespace gpupool::runtime
