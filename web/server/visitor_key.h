// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "server/visitor.h"

namespace gpupool::web {

// 128 random bits in hexadecimal digits. kIo if the system has none.
base::Result<std::string> new_visitor_key();

// Whoever has the key in the header X-Gpupool-Key is the visitor, with the rights of the client. For one
// person on one machine.
class KeyVisitors final : public Visitors {
 public:
  // kept: null: there is no keeper of logs. ledger_prefix: what comes before the paths of the ledger, which
  // the client reaches too; empty: there is none. The client is not owned. REQUIRES: it outlives all
  // requests.
  KeyVisitors(std::string key, kube::Client& client, std::shared_ptr<const logs::KeptLogs> kept,
              const std::string& ledger_prefix);

  std::string mode() const override { return "local"; }
  base::Result<Visitor> of(const net::ServerRequest& request) override;

 private:
  std::string key_;
  std::shared_ptr<kube::Client> client_;
  std::shared_ptr<const logs::KeptLogs> kept_;
  std::optional<Ledger> ledger_;
};

}  // namespace gpupool::web
