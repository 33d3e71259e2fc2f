// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace gpupool::kube {

// Returns the RFC 6901 pointer to the member at these keys. '~' and '/' in keys are escaped. "-" is the end
// of an array.
std::string json_pointer(std::initializer_list<std::string_view> keys);

// Builds an RFC 6902 JSON patch. Values are JSON text. The server applies all operations or none.
//
// To guard a write against a newer object, the patch replaces /metadata/resourceVersion: an outdated value
// gets 409 Conflict. A failed `test` would get a 422 without a typed reason.
class JsonPatch {
 public:
  JsonPatch& add(std::string_view pointer, std::string_view json);
  JsonPatch& replace(std::string_view pointer, std::string_view json);
  JsonPatch& remove(std::string_view pointer);
  JsonPatch& test(std::string_view pointer, std::string_view json);
  // The server refuses the patch with kConflict unless the object still has this resourceVersion.
  JsonPatch& only_if_version(std::string_view resource_version);

  bool empty() const { return operations_.empty(); }
  std::string text() const { return "[" + operations_ + "]"; }

 private:
  void append(std::string_view op, std::string_view pointer, const std::string_view* json);

  std::string operations_;
};

}  // namespace gpupool::kube
