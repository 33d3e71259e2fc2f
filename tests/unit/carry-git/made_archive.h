// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpupool::carry {

// One entry of an archive that a test makes.
struct Made {
  enum class Kind { kFile, kDirectory, kLink, kHardLink, kDevice, kPipe, kSocket };
  Kind kind = Kind::kFile;
  std::string name;
  std::string text;  // a file's content, or a link's target
  int mode = 0644;
  std::int64_t hole = 0;  // zeros before the content, written as a hole
};

inline Made made_file(std::string name, std::string text, int mode = 0644) {
  return {Made::Kind::kFile, std::move(name), std::move(text), mode, 0};
}
inline Made made_directory(std::string name) {
  return {Made::Kind::kDirectory, std::move(name), {}, 0755, 0};
}
inline Made made_link(std::string name, std::string target) {
  return {Made::Kind::kLink, std::move(name), std::move(target), 0777, 0};
}
inline Made made_hard_link(std::string name, std::string target) {
  return {Made::Kind::kHardLink, std::move(name), std::move(target), 0644, 0};
}

struct MadeAs {
  std::string format = "pax";  // a name of libarchive: pax, gnutar, ustar, v7tar, zip
  std::string filter;          // none, or gzip, bzip2, xz, zstd
  std::string options;
  std::string password;
};

// The bytes of an archive with these entries.
std::string make_archive(const std::vector<Made>& entries, const MadeAs& how = {});
// The text through one filter of libarchive.
std::string compressed(const std::string& text, const std::string& filter);
void write_text(const std::string& path, const std::string& text);

}  // namespace gpupool::carry
