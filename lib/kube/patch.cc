// SPDX-License-Identifier: Apache-2.0
#include "kube/patch.h"

#include "base/json.h"

namespace gpupool::kube {

std::string json_pointer(std::initializer_list<std::string_view> keys) {
  std::string pointer;
  for (const std::string_view key : keys) {
    pointer += '/';
    for (const char c : key) {
      if (c == '~') {
        pointer += "~0";
      } else if (c == '/') {
        pointer += "~1";
      } else {
        pointer += c;
      }
    }
  }
  return pointer;
}

void JsonPatch::append(std::string_view op, std::string_view pointer, const std::string_view* json) {
  if (!operations_.empty()) operations_ += ',';
  operations_ += R"({"op":")";
  operations_ += op;
  operations_ += R"(","path":)";
  operations_ += base::json::quote(pointer);
  if (json != nullptr) {
    operations_ += R"(,"value":)";
    operations_ += *json;
  }
  operations_ += '}';
}

JsonPatch& JsonPatch::add(std::string_view pointer, std::string_view json) {
  append("add", pointer, &json);
  return *this;
}

JsonPatch& JsonPatch::replace(std::string_view pointer, std::string_view json) {
  append("replace", pointer, &json);
  return *this;
}

JsonPatch& JsonPatch::remove(std::string_view pointer) {
  append("remove", pointer, nullptr);
  return *this;
}

JsonPatch& JsonPatch::test(std::string_view pointer, std::string_view json) {
  append("test", pointer, &json);
  return *this;
}

JsonPatch& JsonPatch::only_if_version(std::string_view resource_version) {
  return replace("/metadata/resourceVersion", base::json::quote(resource_version));
}

}  // namespace gpupool::kube
