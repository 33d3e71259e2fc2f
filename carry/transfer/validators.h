// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transfer/http_message.h"

namespace gpupool::carry {

// What a server says to tell the versions of an object apart, so that a later piece is of the same. Pure.

// A strong ETag; the header Last-Modified if there is no ETag at all; else empty.
std::string strong_validator(const HttpAnswer& answer);
bool is_etag(std::string_view validator);
// Compares what is in the quotes; listings have ETags with quotes or without.
bool same_etag(std::string_view one, std::string_view other);
std::string quoted_etag(std::string_view etag);

// "bytes 5-9/10" and "bytes */10".
struct ContentRange {
  std::int64_t first = -1;  // of "*": -1
  std::int64_t last = -1;
  std::int64_t total = -1;  // -1: the server does not say
};
std::optional<ContentRange> parse_content_range(std::string_view text);

}  // namespace gpupool::carry
