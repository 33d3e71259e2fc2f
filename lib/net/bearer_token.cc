// SPDX-License-Identifier: Apache-2.0
#include "net/bearer_token.h"

#include <algorithm>

namespace gpupool::net {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr std::size_t kLongestToken = 16384;

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kLongestToken && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~+/=").find(c) != std::string_view::npos;
  });
}

std::optional<std::string> bearer_token(std::string_view authorization) {
  if (!authorization.starts_with(kBearer) || !is_token(authorization.substr(kBearer.size())))
    return std::nullopt;
  return std::string(authorization.substr(kBearer.size()));
}

}  // namespace gpupool::net
