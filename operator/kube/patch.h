#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace gpupool::kube {

// An RFC 6901 pointer to the member that these keys lead to; '~' and '/' in them are escaped. "-" is the end
// of an array.
std::string json_pointer(std::initializer_list<std::string_view> keys);

// Writes an RFC 6902 JSON patch. Values are JSON text already. The server applies all operations or none.
//
// A stale `replace /metadata/resourceVersion` gets 409 Conflict, where a failed `test` gets an opaque 422; so
// that replace is what guards a write against a newer object.
class JsonPatch {
 public:
  JsonPatch& add(std::string_view pointer, std::string_view json);
  JsonPatch& replace(std::string_view pointer, std::string_view json);
  JsonPatch& remove(std::string_view pointer);
  JsonPatch& test(std::string_view pointer, std::string_view json);
  // Makes the whole patch a kConflict unless the object still has this resourceVersion.
  JsonPatch& only_if_version(std::string_view resource_version);

  bool empty() const { return operations_.empty(); }
  std::string text() const { return "[" + operations_ + "]"; }

 private:
  void append(std::string_view op, std::string_view pointer, const std::string_view* json);

  std::string operations_;
};

}  // namespace gpupool::kube
