// SPDX-License-Identifier: Apache-2.0
#include "transfer/http_message.h"

#include <charconv>

namespace gpupool::carry {

const std::string& HttpAnswer::header(const std::string& name) const {
  static const std::string none;
  const auto found = headers.find(name);
  return found == headers.end() ? none : found->second;
}

std::int64_t HttpAnswer::length() const {
  const std::string& text = header("content-length");
  std::int64_t length = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && length >= 0 ? length : -1;
}

}  // namespace gpupool::carry
