// SPDX-License-Identifier: Apache-2.0
#include "command/session.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "command/proxy_token.h"
#include "kube/config/environment.h"
#include "kube/config/rest_config.h"
#include "net/budget_transport.h"
#include "net/curl_transport.h"
#include "net/server_clock.h"

namespace gpupool::command {
namespace {

constexpr char kUserAgent[] = "kubectl-gpupool";
// A person who waits would rather know.
constexpr int kTries = 2;

// As kubectl, and unlike a controller: a kubeconfig comes before the pod's service account.
base::Result<kube::RestConfig> find_config(const GeneralFlags& flags, base::Clock& clock) {
  if (flags.kubeconfig.empty() && kube::environment("KUBECONFIG").empty()) {
    const std::string home = kube::environment("HOME");
    std::error_code ignored;
    if (!home.empty() && std::filesystem::exists(home + "/.kube/config", ignored)) {
      return kube::kubeconfig_config(home + "/.kube/config", flags.context, clock);
    }
  }
  return kube::load_config({.kubeconfig = flags.kubeconfig, .context = flags.context}, clock);
}

kube::ClientOptions client_options(const GeneralFlags& flags, const kube::RestConfig& config) {
  const bool given = !flags.as.empty();
  return {.impersonate_user = given ? flags.as : config.impersonate_user,
          .impersonate_groups = given ? flags.as_groups : config.impersonate_groups,
          .max_tries = kTries};
}

}  // namespace

struct Session::Impl {
  // For a test: nothing is timed or dated.
  Impl(net::Transport& transport, base::Clock& local, std::string ns_)
      : clock(local), ns(std::move(ns_)), client(transport, nullptr, clock, metrics, {.max_tries = 1}) {}

  Impl(kube::RestConfig config, const GeneralFlags& flags, base::Clock& local)
      : clock(local),
        ns(flags.ns.empty() ? config.ns : flags.ns),
        server(config.endpoint.url),
        tokens(std::move(config.tokens)),
        curl(std::make_unique<net::CurlTransport>(std::move(config.endpoint), kUserAgent)),
        limited(std::in_place, *curl,
                [limit = flags.request_timeout](const net::HttpRequest&) {
                  return limit && limit->count() > 0 ? limit : std::nullopt;
                }),
        dated(std::in_place, *limited, clock),
        with_token(std::in_place, *dated, tokens.get()),
        client(*with_token, tokens.get(), clock, metrics, client_options(flags, config)) {
    if (ns.empty()) ns = "default";
  }

  net::ServerClock clock;
  std::string ns;
  std::string server;
  base::Metrics metrics;
  std::shared_ptr<kube::TokenSource> tokens;
  std::unique_ptr<net::CurlTransport> curl;
  std::optional<net::BudgetTransport> limited;
  std::optional<net::DatedTransport> dated;
  std::optional<ProxyTokenTransport> with_token;
  kube::Client client;
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(net::Transport& transport, base::Clock& clock, std::string ns)
    : impl_(std::make_unique<Impl>(transport, clock, std::move(ns))) {}
Session::~Session() = default;

base::Result<std::unique_ptr<Session>> Session::open(const GeneralFlags& flags, base::Clock& local) {
  if (flags.as.empty() && !flags.as_groups.empty()) {
    return base::fail(base::ErrorCode::kInvalidArgument, "--as-group needs --as");
  }
  auto config = find_config(flags, local);
  if (!config) return tl::unexpected<base::Error>(config.error());
  return std::unique_ptr<Session>(new Session(std::make_unique<Impl>(std::move(*config), flags, local)));
}

kube::Client& Session::client() { return impl_->client; }
const std::string& Session::ns() const { return impl_->ns; }
const std::string& Session::server() const { return impl_->server; }
base::Clock& Session::clock() { return impl_->clock; }

}  // namespace gpupool::command
