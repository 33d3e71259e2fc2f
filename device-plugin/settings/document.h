// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gpupool::settings {

// A YAML value with its line. Entries are kept as written, so that keys given twice can be found.
struct Value {
  enum class Kind { kNull, kScalar, kList, kMap };
  struct Entry;
  Kind kind = Kind::kNull;
  int line = 1;
  std::string text;     // of a scalar
  bool quoted = false;  // a scalar in quotes: text, whatever it looks like
  std::vector<Value> items;
  std::vector<Entry> entries;
};

struct Value::Entry {
  std::string key;
  int line = 1;
  Value value;
};

// One YAML document. Anchors, aliases and tags are refused: a settings file needs none, and an alias can make
// a small file huge. kInvalidArgument with the line; never throws.
base::Result<Value> read_document(const std::string& yaml);

}  // namespace gpupool::settings
