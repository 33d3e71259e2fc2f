// SPDX-License-Identifier: Apache-2.0
#include "probes/api_server.h"

#include <array>

#include "base/metrics.h"
#include "kube/client.h"
#include "kube/config/rest_config.h"
#include "kube/config/server_url.h"
#include "net/curl_transport.h"
#include "probes/clock.h"

namespace gpupool::probes {

struct Version {
  std::string git_version;
};

}  // namespace gpupool::probes

template <>
struct gpupool::base::json::Schema<gpupool::probes::Version> {
  static constexpr auto fields = std::array{field<&probes::Version::git_version>("gitVersion")};
};

namespace gpupool::probes {
namespace {

constexpr std::chrono::seconds kPatience{15};

base::Result<kube::RestConfig> config_for(const ApiQuestion& question, base::Clock& clock) {
  if (question.server.empty()) return kube::load_config({.kubeconfig = question.kubeconfig}, clock);
  auto url = kube::check_server_url(question.server, "--server");
  if (!url) return tl::unexpected<base::Error>(url.error());
  kube::RestConfig config;
  config.endpoint.url = std::move(*url);
  // The request carries no secret, and the answer is not relied on, so certificates are not verified.
  config.endpoint.tls = [] {
    return base::Result<net::TlsMaterial>(net::TlsMaterial{.insecure_skip_verify = true});
  };
  return config;
}

void ask_version(net::Transport& transport, kube::TokenSource* tokens, base::Clock& clock,
                 ApiAnswer& answer) {
  net::HttpRequest request{.target = "/version", .timeout = kPatience};
  if (tokens != nullptr) {
    const auto token = tokens->token({});
    if (!token) {
      answer.facts.bad_config = token.error().message;
      return;
    }
    if (!token->empty()) request.headers.push_back({"Authorization", "Bearer " + *token});
  }
  const auto started = clock.now();
  const auto before = clock.wall();
  const auto response = transport.send(request, {});
  const auto after = clock.wall();
  answer.facts.took = std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - started);
  if (!response) {
    answer.facts.error = response.error().message;
    return;
  }
  answer.facts.status = response->status;
  if (const auto version = base::json::read<Version>(response->body))
    answer.facts.version = version->git_version;
  const auto date = response->headers.find("date");
  if (date == response->headers.end()) return;
  if (const auto at = parse_http_date(date->second)) answer.clock_ahead = ahead_of(*at, before, after);
}

void take_error(const base::Error& error, ApiAnswer& answer) {
  using Pools = checks::ApiServerFacts::Pools;
  answer.facts.pools_error = error.message;
  if (error.code == base::ErrorCode::kForbidden) {
    answer.facts.pools = Pools::kForbidden;
  } else if (error.http_status == 404) {
    answer.facts.pools = Pools::kUndefined;
  } else {
    answer.facts.pools = Pools::kFailed;
  }
}

void ask_pools(kube::Client& client, const std::string& pool, ApiAnswer& answer) {
  using Pools = checks::ApiServerFacts::Pools;
  if (pool.empty()) {
    const auto listed = client.list(api::GpuPool::kType, "", {.limit = 1}, {});
    answer.facts.pools = Pools::kReadable;
    if (!listed) take_error(listed.error(), answer);
    return;
  }
  auto read = kube::get<api::GpuPool>(client, {.ns = "", .name = pool}, {});
  answer.facts.pools = Pools::kReadable;
  if (read) {
    answer.pool = std::move(*read);
    answer.pool_error.clear();
    return;
  }
  answer.pool_error = read.error().message;
  // The definition is there, this pool is not.
  if (read.error().code != base::ErrorCode::kNotFound) take_error(read.error(), answer);
}

}  // namespace

ApiAnswer ask_api_server(const ApiQuestion& question, base::Clock& clock) {
  ApiAnswer answer;
  if (!question.pool.empty()) answer.pool_error = "the API server was not reached";
  const auto config = config_for(question, clock);
  if (!config) {
    const bool named = !question.kubeconfig.empty() || !question.server.empty();
    (named ? answer.facts.bad_config : answer.facts.no_config) = config.error().message;
    return answer;
  }
  answer.facts.url = config->endpoint.url;
  answer.facts.has_credentials = question.server.empty();
  net::CurlTransport transport(config->endpoint, question.user_agent);
  ask_version(transport, config->tokens.get(), clock, answer);
  if (!answer.facts.has_credentials || answer.facts.status == 0 || answer.facts.status == 401) return answer;
  base::Metrics metrics;
  kube::Client client(transport, config->tokens.get(), clock, metrics,
                      {.impersonate_user = config->impersonate_user,
                       .impersonate_groups = config->impersonate_groups,
                       .max_tries = 1});
  ask_pools(client, question.pool, answer);
  return answer;
}

}  // namespace gpupool::probes
