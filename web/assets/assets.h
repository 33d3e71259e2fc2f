// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gpupool::web {

// A file of the page, as it lies in the program.
struct Asset {
  std::string_view path;  // "/index.html"
  std::string_view gzip;  // its bytes, compressed
  std::string_view content_type;
  std::string etag;  // with quotes; another content has another one
};

// nullptr if there is no such file; "/" is index.html. The result lives as long as the program. Thread-safe.
const Asset* find_asset(std::string_view path);

}  // namespace gpupool::web
