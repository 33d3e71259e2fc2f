// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpupool::planning {

// The names of all fields of a pod template, as the API server itself has them: from the definitions of its
// OpenAPI document (/openapi/v2, Kubernetes 1.14 and later). The server drops a field that it does not know
// without a word, so a misspelled one would never be noticed. Immutable, so thread-safe; some 100 KiB.
class TemplateFields {
 public:
  TemplateFields() = default;  // knows nothing, so finds nothing

  // Returns the path of the first field that the server does not know, such as `spec.containers[0].comand`;
  // empty if there is none. pod_template: valid JSON. Costs microseconds for a kilobyte.
  std::string unknown_field(std::string_view pod_template) const;

  bool empty() const { return objects_.empty(); }

 private:
  friend class TemplateFieldsBuilder;
  static constexpr std::int32_t kAnything = -1;  // a value whose fields are not checked

  // The fields of an object, with what their values are: an index of objects_, also for a list of such
  // objects; or kAnything.
  using Fields = std::map<std::string, std::int32_t, std::less<>>;
  std::vector<Fields> objects_;  // the first is the pod template
};

// Collects definitions in any order. Not thread-safe.
class TemplateFieldsBuilder {
 public:
  // True for definitions that a pod template may consist of: those of the core API and of its metadata.
  static bool wants(std::string_view definition);
  // schema: the JSON text of the definition. One that cannot be read counts as one without fields.
  void add(const std::string& definition, std::string_view schema);
  // Keeps only what a pod template consists of. Empty if its definition is missing.
  TemplateFields build() const;

 private:
  using References = std::map<std::string, std::string>;  // field: definition of its value; empty: anything
  std::map<std::string, References> definitions_;
};

}  // namespace gpupool::planning
