// SPDX-License-Identifier: Apache-2.0
#include "server/token_visitors.h"

#include <optional>
#include <utility>

#include "base/hmac_sha256.h"
#include "kube/config/file_token.h"
#include "net/bearer_token.h"

namespace gpupool::web {
namespace {

// A client and its token, which it refers to, and the same for the keeper.
struct TokenClient {
  TokenClient(std::string token, net::Transport& api, base::Clock& clock, base::Metrics& metrics)
      : source(std::move(token)), client(api, &source, clock, metrics, {.max_tries = 2}) {}
  void add_keeper(net::Transport& keeper, base::Clock& clock, base::Metrics& metrics) {
    keeper_client.emplace(keeper, &source, clock, metrics, kube::ClientOptions{.max_tries = 2});
    kept.emplace(*keeper_client, "");
  }
  kube::FixedToken source;
  kube::Client client;
  std::optional<kube::Client> keeper_client;
  std::optional<logs::KeptLogs> kept;
};

std::string hash_of(std::string_view token) {
  const auto digest = base::sha256(token);
  return {digest.begin(), digest.end()};
}

}  // namespace

base::Result<Visitor> TokenVisitors::of(const net::ServerRequest& request) {
  const auto token = net::bearer_token(request.header("Authorization"));
  if (!token) {
    return tl::unexpected<base::Error>(
        {base::ErrorCode::kUnauthorized, "sign in with a token of the cluster", 401});
  }
  const auto owner = std::make_shared<TokenClient>(*token, api_, clock_, metrics_);
  Visitor visitor{{owner, &owner->client}, nullptr, hash_of(*token)};
  if (keeper_ != nullptr) {
    owner->add_keeper(*keeper_, clock_, metrics_);
    visitor.kept = {owner, &*owner->kept};
  }
  return visitor;
}

}  // namespace gpupool::web
