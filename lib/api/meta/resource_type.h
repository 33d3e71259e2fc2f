// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace gpupool::api {

// A kind, and its location in the API.
struct ResourceType {
  std::string_view group;  // empty: core
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced;
};

// The name of an object of a known kind. ns is empty for cluster-scoped kinds.
struct ObjectKey {
  std::string ns;
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
  std::string to_string() const { return ns.empty() ? name : ns + "/" + name; }
};

}  // namespace gpupool::api
