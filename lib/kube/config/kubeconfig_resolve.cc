// SPDX-License-Identifier: Apache-2.0
#include "kube/config/kubeconfig_resolve.h"

#include <memory>
#include <utility>

#include "kube/config/exec_plugin.h"
#include "kube/config/file_token.h"
#include "kube/config/server_url.h"
#include "kube/config/tls_files.h"

namespace gpupool::kube {
namespace {

tl::unexpected<base::Error> bad(const std::string& message) {
  return base::fail(base::ErrorCode::kInvalidArgument, message);
}

template <class T>
std::string names_of(const std::map<std::string, T>& entries) {
  std::string names;
  for (const auto& [name, entry] : entries) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "there are none" : "there are: " + names;
}

template <class T>
base::Result<const T*> find(const std::map<std::string, T>& entries, const std::string& name,
                            const std::string& where, const char* what) {
  if (name.empty()) return bad(where + " names no " + what);
  const auto entry = entries.find(name);
  if (entry == entries.end())
    return bad(where + ": no " + what + " '" + name + "' (" + names_of(entries) + ")");
  return &entry->second;
}

base::Result<void> check_cluster(const KubeCluster& cluster) {
  if (cluster.insecure_skip_tls_verify && !cluster.ca.empty()) {
    return bad(cluster.where + " has both insecure-skip-tls-verify and certificate-authority: remove one");
  }
  return check_proxy_url(cluster.proxy_url, cluster.where + ".proxy-url");
}

base::Result<void> check_exec(const KubeExec& exec, const std::string& where) {
  if (exec.command.empty()) return bad(where + ".command is missing");
  const std::string& version = exec.api_version;
  if (version != "client.authentication.k8s.io/v1" && version != "client.authentication.k8s.io/v1beta1") {
    return bad(where + ".apiVersion is '" + version +
               "': use client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1");
  }
  if (exec.interactive_mode == "Always") {
    return bad(where + ".interactiveMode is Always, but there is no terminal to ask at");
  }
  return {};
}

base::Result<void> check_user(const KubeUser& user) {
  if (user.has_auth_provider) {
    return bad(user.where + ".auth-provider is not supported (Kubernetes removed it in 1.26): use exec");
  }
  if (!user.username.empty()) {
    return bad(user.where + ".username: passwords are not supported (Kubernetes removed them in 1.19)");
  }
  if (user.client_cert.empty() != user.client_key.empty()) {
    return bad(user.where + " has only one of client-certificate and client-key");
  }
  if (user.impersonates_more) return bad(user.where + ": as-uid and as-user-extra are not supported");
  if (user.impersonate_user.empty() && !user.impersonate_groups.empty()) {
    return bad(user.where + " has as-groups without as");
  }
  return user.exec ? check_exec(*user.exec, user.where + ".exec") : base::Result<void>();
}

using Tokens = std::shared_ptr<TokenSource>;

// Precedence as in client-go: tokenFile, token, exec.
base::Result<Tokens> plain_tokens(const KubeUser& user, base::Clock& clock) {
  if (!user.token_file.empty()) {
    auto file = FileToken::open(user.token_file, clock);
    if (!file) return base::in_context(file.error(), user.where + ".tokenFile");
    return Tokens(std::move(*file));
  }
  if (!user.token.empty()) return Tokens(std::make_shared<FixedToken>(user.token));
  return Tokens();
}

base::Result<void> add_credentials(const KubeCluster& cluster, const KubeUser& user, base::Clock& clock,
                                   RestConfig& config) {
  net::TlsMaterial settings;
  settings.insecure_skip_verify = cluster.insecure_skip_tls_verify;
  settings.server_name = cluster.tls_server_name;
  const auto files = std::make_shared<TlsFiles>(cluster.ca, user.client_cert, user.client_key, settings);
  const auto material = files->material();
  if (!material) return tl::unexpected<base::Error>(material.error());

  auto tokens = plain_tokens(user, clock);
  if (!tokens) return tl::unexpected<base::Error>(tokens.error());
  config.tokens = std::move(*tokens);
  if (config.tokens || !user.exec) {
    config.endpoint.tls = [files] { return files->material(); };
    return {};
  }
  const KubeCluster* shown = user.exec->provide_cluster_info ? &cluster : nullptr;
  const auto plugin = std::make_shared<ExecPlugin>(
      user.where, *user.exec, exec_info_json(user.exec->api_version, shown, material->ca_pem), clock);
  config.tokens = plugin;
  config.endpoint.tls = [files, plugin]() -> base::Result<net::TlsMaterial> {
    auto current = files->material();
    if (!current) return current;
    if (auto added = plugin->add_certificate(*current); !added) {
      return tl::unexpected<base::Error>(added.error());
    }
    return current;
  };
  return {};
}

}  // namespace

base::Result<RestConfig> resolve_kubeconfig(const Kubeconfig& config, const std::string& files,
                                            const std::string& context, base::Clock& clock) {
  const std::string name = context.empty() ? config.current_context : context;
  if (name.empty()) return bad(files + ": current-context is not set, and no context was asked for");
  const auto chosen = find(config.contexts, name, files, "context");
  if (!chosen) return tl::unexpected<base::Error>(chosen.error());
  const KubeContext& chosen_context = **chosen;
  const auto cluster = find(config.clusters, chosen_context.cluster, chosen_context.where, "cluster");
  if (!cluster) return tl::unexpected<base::Error>(cluster.error());
  const auto user = find(config.users, chosen_context.user, chosen_context.where, "user");
  if (!user) return tl::unexpected<base::Error>(user.error());

  if (auto ok = check_cluster(**cluster); !ok) return tl::unexpected<base::Error>(ok.error());
  if (auto ok = check_user(**user); !ok) return tl::unexpected<base::Error>(ok.error());
  auto url = check_server_url((*cluster)->server, (*cluster)->where + ".server");
  if (!url) return tl::unexpected<base::Error>(url.error());

  RestConfig result;
  result.endpoint.url = std::move(*url);
  result.endpoint.proxy_url = (*cluster)->proxy_url;
  result.endpoint.compression = !(*cluster)->disable_compression;
  result.impersonate_user = (*user)->impersonate_user;
  result.impersonate_groups = (*user)->impersonate_groups;
  result.ns = chosen_context.ns;
  if (auto done = add_credentials(**cluster, **user, clock, result); !done) {
    return tl::unexpected<base::Error>(done.error());
  }
  return result;
}

}  // namespace gpupool::kube
