// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"
#include "kube/client.h"

namespace gpupool::web {

struct SessionFacts {
  std::string mode;     // Visitors::mode()
  std::string ns;       // where the visitor begins
  std::string version;  // of this program
  bool ledger = false;  // there is one to ask for bills
};

// {"mode","user","allNamespaces","namespace","version","ledger"}: what the page needs to know of a visitor.
// user is null before Kubernetes 1.28, which cannot tell it. kUnauthorized if the API server does not know
// the visitor.
base::Result<std::string> session_json(kube::Client& client, const SessionFacts& facts,
                                       const std::stop_token& stop);

}  // namespace gpupool::web
