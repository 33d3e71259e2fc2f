// SPDX-License-Identifier: Apache-2.0
#include "server/token_visitors.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kube/config/file_token.h"

namespace gpupool::web {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr std::size_t kLongestToken = 16384;

// A client and its token, which it refers to.
struct TokenClient {
  TokenClient(std::string token, net::Transport& api, base::Clock& clock, base::Metrics& metrics)
      : source(std::move(token)), client(api, &source, clock, metrics, {.max_tries = 2}) {}
  kube::FixedToken source;
  kube::Client client;
};

// The characters of a token (RFC 6750, 2.1).
bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kLongestToken && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~+/=").find(c) != std::string_view::npos;
  });
}

std::string hash_of(std::string_view token) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

base::Result<Visitor> TokenVisitors::of(const net::ServerRequest& request) {
  const std::string_view header = request.header("Authorization");
  if (!header.starts_with(kBearer) || !is_token(header.substr(kBearer.size()))) {
    return tl::unexpected<base::Error>(
        {base::ErrorCode::kUnauthorized, "sign in with a token of the cluster", 401});
  }
  const std::string token(header.substr(kBearer.size()));
  const auto owner = std::make_shared<TokenClient>(token, api_, clock_, metrics_);
  return Visitor{{owner, &owner->client}, hash_of(token)};
}

}  // namespace gpupool::web
