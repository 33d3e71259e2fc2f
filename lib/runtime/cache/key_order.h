// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "api/meta/resource_type.h"

namespace gpupool::runtime {

// Namespace and name. Valid as long as the object that it was made from.
using KeyView = std::pair<std::string_view, std::string_view>;

inline KeyView key_view(const KeyView& key) { return key; }
inline KeyView key_view(const api::ObjectKey& key) { return {key.ns, key.name}; }
template <class K>
  requires requires(const K& object) { object.metadata.ns; }
KeyView key_view(const K& object) {
  return {object.metadata.ns, object.metadata.name};
}
template <class K>
KeyView key_view(const std::shared_ptr<const K>& object) {
  return key_view(*object);
}

// Orders objects by their own name, so that containers of many objects store each name once.
struct InKeyOrder {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return key_view(a) < key_view(b);
  }
};

}  // namespace gpupool::runtime
