// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/metrics.h"
#include "net/transport.h"
#include "server/visitor.h"

namespace gpupool::web {

// Whoever sends a token in `Authorization: Bearer` acts with its rights; the API server checks it. No other
// header of the request is passed on, so nobody acts for others (Impersonate-User). Tokens are kept as long
// as the request.
class TokenVisitors final : public Visitors {
 public:
  // What is asked with visitors' tokens; all without credentials of their own. Null: there is none.
  struct Servers {
    net::Transport& api;
    net::Transport* keeper = nullptr;  // of logs
    net::Transport* ledger = nullptr;
  };
  // REQUIRES: everything referenced outlives all requests. mode: "token", or "proxy" if a proxy in front adds
  // the token.
  TokenVisitors(std::string mode, const Servers& servers, base::Clock& clock, base::Metrics& metrics)
      : mode_(std::move(mode)), servers_(servers), clock_(clock), metrics_(metrics) {}

  std::string mode() const override { return mode_; }
  base::Result<Visitor> of(const net::ServerRequest& request) override;

 private:
  std::string mode_;
  Servers servers_;
  base::Clock& clock_;
  base::Metrics& metrics_;
};

}  // namespace gpupool::web
