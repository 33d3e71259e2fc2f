// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/carry-git/made_archive.h"
#include "tests/unit/carry-git/tree_on_disk.h"

namespace gpupool::carry {
namespace {

// A tree in which nothing is below a file.
DiskTree any_tree() {
  DiskTree tree;
  const auto paths = *rc::gen::container<std::vector<std::vector<int>>>(
      rc::gen::resize(4, rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4)))));
  for (const auto& numbers : paths) {
    std::string path;
    bool free = true;
    for (const int number : numbers) {
      if (!path.empty()) {
        const auto [at, fresh] = tree.emplace(path, "d");
        free = free && at->second == "d";
      }
      if (!free) break;
      path += (path.empty() ? "" : "/") + std::string(1, "abyz"[number]) + (number == 2 ? " \xc3\xbc" : "");
    }
    if (!free || tree.contains(path)) continue;
    const auto text = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    tree[path] = *rc::gen::element(std::string("d"), "-" + text, "x" + text, std::string("> a/target"));
  }
  return tree;
}

RC_GTEST_PROP(ArchiveProperty, UnpackingGivesTheTree, ()) {
  const auto tree = any_tree();
  std::vector<Made> entries;
  entries.reserve(tree.size());
  std::int64_t bytes = 0;
  for (const auto& [path, what] : tree) {
    if (what == "d") {
      entries.push_back(made_directory(path));
    } else if (what.starts_with("> ")) {
      entries.push_back(made_link(path, what.substr(2)));
    } else {
      entries.push_back(made_file(path, what.substr(1), what.front() == 'x' ? 0700 : 0600));
      bytes += static_cast<std::int64_t>(what.size()) - 1;
    }
  }
  if (entries.empty()) return;
  const auto how = *rc::gen::element(MadeAs{"pax", "", {}, {}}, MadeAs{"gnutar", "gzip", {}, {}},
                                     MadeAs{"pax", "zstd", {}, {}}, MadeAs{"zip", "", {}, {}});
  UnpackedHere here;
  const auto done = here.unpack_bytes(make_archive(entries, how));
  RC_ASSERT(done.has_value());
  RC_ASSERT(here.tree() == tree);
  RC_ASSERT(done->bytes == bytes);
  RC_ASSERT(done->digest == digest_of(tree));
}

}  // namespace
}  // namespace gpupool::carry
