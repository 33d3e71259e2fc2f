// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

// A struct with a field of every kind, for tests of the reader.
namespace gpupool::base::json {

struct Leaf {
  std::string name;
  std::vector<std::int64_t> numbers;
};

struct Node {
  std::string name;
  bool flag = false;
  std::int64_t count = 0;
  double ratio = 0;
  WallTime time{};
  RawJson raw;
  Leaf leaf;
  std::optional<Leaf> maybe_leaf;
  std::optional<std::int64_t> maybe_count;
  std::optional<bool> maybe_flag;
  std::optional<WallTime> maybe_time;
  std::vector<Leaf> leaves;
  std::vector<Node> children;
  std::vector<RawJson> raws;
  std::optional<std::vector<std::string>> words;
  std::map<std::string, std::string> labels;
  std::map<std::string, Leaf> leaf_by_name;
  std::map<std::string, std::map<std::string, std::vector<std::string>>> nested;
};

template <>
struct Schema<Leaf> {
  static constexpr auto fields = std::array{field<&Leaf::name>("name"), field<&Leaf::numbers>("numbers")};
};

template <>
struct Schema<Node> {
  static constexpr auto fields = std::array{
      field<&Node::name>("name"),
      field<&Node::flag>("flag"),
      field<&Node::count>("count"),
      field<&Node::ratio>("ratio"),
      field<&Node::time>("time"),
      field<&Node::raw>("raw"),
      field<&Node::leaf>("leaf"),
      field<&Node::maybe_leaf>("maybeLeaf"),
      field<&Node::maybe_count>("maybeCount"),
      field<&Node::maybe_flag>("maybeFlag"),
      field<&Node::maybe_time>("maybeTime"),
      field<&Node::leaves>("leaves"),
      field<&Node::children>("children"),
      field<&Node::raws>("raws"),
      field<&Node::words>("words"),
      field<&Node::labels>("labels"),
      field<&Node::leaf_by_name>("leafByName"),
      field<&Node::nested>("nested"),
  };
};

}  // namespace gpupool::base::json
