// SPDX-License-Identifier: Apache-2.0
#include "kube/config/exec_plugin.h"

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;

// What a credential plugin printed.
void fuzz_exec_credential(std::string_view input) {
  const auto credential = gpupool::kube::parse_exec_credential(input, "client.authentication.k8s.io/v1");
  if (!credential) return gpupool::fuzz::require_explained(credential.error());
  require(gpupool::fuzz::is_json(input), "what is read is JSON");
  require(!credential->token.empty() || !credential->client_cert_pem.empty(), "it proves who we are");
}
