// SPDX-License-Identifier: Apache-2.0
#include "transfer/secret_directory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/read_file.h"
#include "files/file_error.h"

namespace gpupool::carry {

Outcome<std::optional<std::string>> secret_value(const std::string& directory, const std::string& key) {
  const std::string path = directory + "/" + key;
  if (::access(path.c_str(), F_OK) != 0) {
    if (errno == ENOENT) return std::optional<std::string>();
    return file_failure("cannot read the key " + key + " of the Secret", errno);
  }
  auto text = base::read_file(path, base::kMiB);
  if (!text) return failed(FailureKind::kLocal, "cannot read the key " + key + " of the Secret");
  return std::optional<std::string>(without_line_ends(std::move(*text)));
}

Outcome<std::optional<std::string>> secret_line(const std::string& directory, const std::string& key) {
  auto value = secret_value(directory, key);
  if (!value || !*value) return value;
  if (auto good = check_secret_line(key, **value); !good) return tl::unexpected(good.error());
  return value;
}

std::string without_line_ends(std::string value) {
  while (value.ends_with('\n') || value.ends_with('\r')) value.pop_back();
  return value;
}

Outcome<void> check_secret_line(const std::string& key, const std::string& value) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (value.empty()) return failed(FailureKind::kInvalid, "the key " + key + " of the Secret is empty");
  if (std::any_of(value.begin(), value.end(), is_control))
    return failed(FailureKind::kInvalid,
                  "the key " + key + " of the Secret has a line break or control character");
  return {};
}

}  // namespace gpupool::carry
