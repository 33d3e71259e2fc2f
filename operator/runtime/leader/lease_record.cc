#include "runtime/leader/lease_record.h"

namespace gpupool::runtime {
namespace {

using base::json::quote;

std::string spec_json(const LeaseRecord& record) {
  return "{\"holderIdentity\":" + quote(record.holder) +
         ",\"leaseDurationSeconds\":" + std::to_string(record.duration_seconds) +
         ",\"acquireTime\":" + quote(record.acquire_time) + ",\"renewTime\":" + quote(record.renew_time) +
         ",\"leaseTransitions\":" + std::to_string(record.transitions) + "}";
}

}  // namespace

std::string lease_body(const api::ObjectKey& key, const LeaseRecord& record) {
  return R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":)" + quote(key.ns) +
         ",\"name\":" + quote(key.name) + "},\"spec\":" + spec_json(record) + "}";
}

std::string lease_patch(const std::string& resource_version, const LeaseRecord& record) {
  return "{\"metadata\":{\"resourceVersion\":" + quote(resource_version) + "},\"spec\":" + spec_json(record) +
         "}";
}

}  // namespace gpupool::runtime
