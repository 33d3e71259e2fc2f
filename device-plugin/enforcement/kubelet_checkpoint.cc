// SPDX-License-Identifier: Apache-2.0
#include "enforcement/kubelet_checkpoint.h"

#include <nlohmann/json.hpp>

namespace gpupool::enforcement {
namespace {

using Json = nlohmann::json;

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// A list of IDs, or lists of them by NUMA node.
void add_ids(const Json& ids, const std::string& resource, const std::string& uid, PodUids& uids) {
  if (ids.is_string()) uids[{resource, ids.get<std::string>()}] = uid;
  if (!ids.is_array() && !ids.is_object()) return;
  for (const Json& inner : ids) {
    if (inner.is_string()) uids[{resource, inner.get<std::string>()}] = uid;
    if (!inner.is_array()) continue;
    for (const Json& id : inner) {
      if (id.is_string()) uids[{resource, id.get<std::string>()}] = uid;
    }
  }
}

}  // namespace

base::Result<PodUids> read_checkpoint(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto bad = [] {
    return base::fail(base::ErrorCode::kParse, "the kubelet's checkpoint of devices has an unknown form");
  };
  if (!json.is_object()) return bad();
  const auto data = json.find("Data");
  if (data == json.end() || !data->is_object()) return bad();
  const auto entries = data->find("PodDeviceEntries");
  if (entries == data->end()) return bad();
  PodUids uids;
  if (entries->is_null()) return uids;
  if (!entries->is_array()) return bad();
  for (const Json& entry : *entries) {
    if (!entry.is_object()) return bad();
    const std::string uid = text_at(entry, "PodUID");
    const std::string resource = text_at(entry, "ResourceName");
    const auto ids = entry.find("DeviceIDs");
    if (uid.empty() || resource.empty() || ids == entry.end()) continue;
    add_ids(*ids, resource, uid, uids);
  }
  return uids;
}

}  // namespace gpupool::enforcement
