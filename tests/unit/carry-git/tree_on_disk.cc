// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/carry-git/tree_on_disk.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "digest/sha256.h"
#include "files/directories.h"
#include "tests/unit/carry-git/made_archive.h"

namespace gpupool::carry {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

DiskTree read_disk_tree(const std::string& path) {
  DiskTree tree;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    const auto name = entry.path().lexically_relative(path).string();
    struct stat status{};
    EXPECT_EQ(::lstat(entry.path().c_str(), &status), 0);
    const auto mode = status.st_mode & 07777U;
    if (entry.is_symlink()) {
      tree[name] = "> " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_directory()) {
      EXPECT_EQ(mode, 0777U) << name;
      tree[name] = "d";
    } else {
      EXPECT_TRUE(mode == 0777U || mode == 0666U) << name << " has the mode " << mode;
      tree[name] = (mode == 0777U ? "x" : "-") + content_of(entry.path());
    }
  }
  return tree;
}

std::string digest_of(const DiskTree& tree) {
  std::string lines;
  for (const auto& [path, what] : tree) {
    if (what == "d") continue;
    const bool link = what.starts_with("> ");
    lines += path + '\0' + (what.front() == 'x' ? 'x' : '-') + '\0';
    lines += (link ? what.substr(2) : digest::sha256_hex(what.substr(1))) + "\n";
  }
  return "sha256:" + digest::sha256_hex(lines);
}

Outcome<Unpacked> UnpackedHere::unpack_bytes(const std::string& archive, std::stop_token stop) {
  write_text(path("archive"), archive);
  const auto root = open_directory(folder_.path());
  return unpack(root->get(), "archive", "to", budget_, std::move(stop));
}

std::string UnpackedHere::message(const std::string& archive) {
  const auto left = budget_.left();
  const auto done = unpack_bytes(archive);
  EXPECT_FALSE(done.has_value());
  EXPECT_EQ(budget_.left(), left);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "something is left";
  if (done) return {};
  last_kind_ = done.error().kind;
  return done.error().message;
}

}  // namespace gpupool::carry
