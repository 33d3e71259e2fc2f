// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "kube/client.h"
#include "net/http_server.h"
#include "worker_logs/kept_logs.h"

namespace gpupool::web {

// A way to gpupool-ledger.
struct Ledger {
  std::shared_ptr<kube::Client> client;  // of the server that answers
  std::string prefix;                    // what comes before the ledger's own paths
};

// Who sends a request.
struct Visitor {
  std::shared_ptr<kube::Client> client;        // with this visitor's rights
  std::shared_ptr<const logs::KeptLogs> kept;  // with this visitor's rights; null: there is no keeper
  std::optional<Ledger> ledger;                // with this visitor's rights
  std::string id;  // the same for all requests of one visitor; says nothing of the credentials
};

// Finds out who sends a request. The page's server has no rights of its own. Thread-safe.
class Visitors {
 public:
  virtual ~Visitors() = default;
  // How the page signs in: "local" (a key in the address), "token", or "proxy" (somebody else does).
  virtual std::string mode() const = 0;
  // kUnauthorized if the request has no credentials, or wrong ones.
  virtual base::Result<Visitor> of(const net::ServerRequest& request) = 0;
};

}  // namespace gpupool::web
