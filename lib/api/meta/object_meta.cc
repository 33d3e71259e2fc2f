// SPDX-License-Identifier: Apache-2.0
#include "api/meta/object_meta.h"

#include <algorithm>

namespace gpupool::api {

namespace {

std::string find_or_empty(const std::map<std::string, std::string>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::string() : found->second;
}

}  // namespace

std::string ObjectMeta::controller_uid() const {
  const auto owner = std::find_if(owner_references.begin(), owner_references.end(),
                                  [](const OwnerReference& reference) { return reference.controller; });
  return owner == owner_references.end() ? std::string() : owner->uid;
}

std::string ObjectMeta::label(const std::string& key) const { return find_or_empty(labels, key); }

std::string ObjectMeta::annotation(const std::string& key) const { return find_or_empty(annotations, key); }

bool ObjectMeta::has_finalizer(const std::string& finalizer) const {
  return std::find(finalizers.begin(), finalizers.end(), finalizer) != finalizers.end();
}

}  // namespace gpupool::api
