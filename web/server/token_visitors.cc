// SPDX-License-Identifier: Apache-2.0
#include "server/token_visitors.h"

#include <optional>
#include <utility>

#include "base/hmac_sha256.h"
#include "kube/config/file_token.h"
#include "net/bearer_token.h"

namespace gpupool::web {
namespace {

// A client and its token, which it refers to, and the same for keeper and ledger.
struct TokenClient {
  TokenClient(std::string token, net::Transport& api, base::Clock& clock, base::Metrics& metrics)
      : source(std::move(token)), client(api, &source, clock, metrics, {.max_tries = 2}) {}
  void add_keeper(net::Transport& keeper, base::Clock& clock, base::Metrics& metrics) {
    keeper_client.emplace(keeper, &source, clock, metrics, kube::ClientOptions{.max_tries = 2});
    kept.emplace(*keeper_client, "");
  }
  void add_ledger(net::Transport& ledger, base::Clock& clock, base::Metrics& metrics) {
    ledger_client.emplace(ledger, &source, clock, metrics, kube::ClientOptions{.max_tries = 2});
  }
  kube::FixedToken source;
  kube::Client client;
  std::optional<kube::Client> keeper_client;
  std::optional<logs::KeptLogs> kept;
  std::optional<kube::Client> ledger_client;
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
  const auto owner = std::make_shared<TokenClient>(*token, servers_.api, clock_, metrics_);
  Visitor visitor{{owner, &owner->client}, nullptr, std::nullopt, hash_of(*token)};
  if (servers_.keeper != nullptr) {
    owner->add_keeper(*servers_.keeper, clock_, metrics_);
    visitor.kept = {owner, &*owner->kept};
  }
  if (servers_.ledger != nullptr) {
    owner->add_ledger(*servers_.ledger, clock_, metrics_);
    visitor.ledger = Ledger{{owner, &*owner->ledger_client}, ""};
  }
  return visitor;
}

}  // namespace gpupool::web
