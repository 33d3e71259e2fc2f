#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "kube/config/kubeconfig.h"
#include "kube/token_source.h"
#include "net/endpoint.h"

namespace gpupool::kube {

// What a plugin gave: a token, a client certificate with its key, or all of them.
struct ExecCredential {
  std::string token;
  std::string client_cert_pem;
  std::string client_key_pem;
  std::optional<base::WallTime> expires;
};

// Reads client.authentication.k8s.io's ExecCredential. Pure. api_version: what the kubeconfig asks for;
// another one is an error.
base::Result<ExecCredential> parse_exec_credential(std::string_view json, const std::string& api_version);

// The value of KUBERNETES_EXEC_INFO. cluster: null unless the kubeconfig says provideClusterInfo.
std::string exec_info_json(const std::string& api_version, const KubeCluster* cluster,
                           const std::string& ca_pem);

// Runs a client-go credential plugin when a credential is needed: at first, shortly before it expires, and
// after a 401. One run at a time; waiting for another thread's run can be cancelled. Thread-safe.
class ExecPlugin final : public TokenSource {
 public:
  // where: the user's place in the kubeconfig, for messages. info: exec_info_json. clock must outlive the
  // plugin. timeout: real time, not the clock's, because a program is waited for.
  ExecPlugin(std::string where, KubeExec exec, std::string info, base::Clock& clock,
             std::chrono::milliseconds timeout = std::chrono::seconds(60));

  base::Result<std::string> token(std::stop_token stop) override;
  void invalidate(const std::string& rejected) override;
  // The client certificate, if the plugin gives any, goes into `material`.
  base::Result<void> add_certificate(net::TlsMaterial& material);

 private:
  base::Result<ExecCredential> credential(std::stop_token stop);
  base::Result<ExecCredential> run(std::stop_token stop) const;
  bool is_valid_for(base::Duration how_long) const;

  const std::string where_;
  const KubeExec exec_;
  const std::string info_;
  base::Clock& clock_;
  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;  // guards the rest; not held while the program runs
  std::condition_variable_any ended_;
  bool running_ = false;
  bool rejected_ = false;
  std::optional<ExecCredential> credential_;
};

}  // namespace gpupool::kube
