// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/config/kubeconfig.h"
#include "kube/token_source.h"
#include "net/endpoint.h"

namespace gpupool::kube {

// A plugin's output: a token, a client certificate with its key, or both.
struct ExecCredential {
  std::string token;
  std::string client_cert_pem;
  std::string client_key_pem;
  std::optional<base::WallTime> expires;
};

// Reads an ExecCredential of client.authentication.k8s.io. api_version: the version that the kubeconfig
// names; another version is an error. Pure.
base::Result<ExecCredential> parse_exec_credential(std::string_view json, const std::string& api_version);

// Returns the value of KUBERNETES_EXEC_INFO. cluster: null unless the kubeconfig sets provideClusterInfo.
std::string exec_info_json(const std::string& api_version, const KubeCluster* cluster,
                           const std::string& ca_pem);

// Runs a client-go credential plugin when a credential is needed: at first, shortly before it expires, and
// after a 401. The plugin runs on the calling thread; other callers wait for that run and can be cancelled.
// Thread-safe.
class ExecPlugin final : public TokenSource {
 public:
  // where: the user's location in the kubeconfig, for messages. info: from exec_info_json. timeout: real
  // time, not the clock's, because a process is awaited. REQUIRES: clock outlives the plugin.
  ExecPlugin(std::string where, KubeExec exec, std::string info, base::Clock& clock,
             std::chrono::milliseconds timeout = std::chrono::seconds(60));

  base::Result<std::string> token(std::stop_token stop) override;
  void invalidate(const std::string& rejected) override;
  // Sets the client certificate in `material` if the plugin returns one.
  base::Result<void> add_certificate(net::TlsMaterial& material);

 private:
  base::Result<ExecCredential> credential(std::stop_token stop);
  base::Result<ExecCredential> run(std::stop_token stop) const;
  bool is_valid_for(base::Duration how_long) const GPUPOOL_REQUIRES(mutex_);

  const std::string where_;
  const KubeExec exec_;
  const std::string info_;
  base::Clock& clock_;
  const std::chrono::milliseconds timeout_;
  base::Mutex mutex_;  // not held while the program runs
  std::condition_variable_any ended_;
  bool running_ GPUPOOL_GUARDED_BY(mutex_) = false;
  bool rejected_ GPUPOOL_GUARDED_BY(mutex_) = false;
  std::optional<ExecCredential> credential_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::kube
