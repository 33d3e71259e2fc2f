// SPDX-License-Identifier: Apache-2.0
#include "checks/api_server.h"

namespace gpupool::checks {
namespace {

void judge_answer(const ApiServerFacts& facts, Judgement& judgement) {
  const std::string took = std::to_string(facts.took.count()) + " ms";
  judgement.note(facts.url + " answered in " + took);
  if (!facts.version.empty()) judgement.note("Kubernetes " + facts.version);
  if (!facts.has_credentials) judgement.note("certificate and rights not checked (--kubeconfig FILE)");
  if (facts.status == 401 && facts.has_credentials) {
    judgement.fail(facts.url + " refuses the credentials (401)",
                   "get a new kubeconfig from the cluster's administrator");
  } else if (facts.status >= 500) {
    judgement.fail(facts.url + " answers " + std::to_string(facts.status),
                   "tell the cluster's administrator");
  } else if (facts.status == 404) {
    judgement.fail(facts.url + " is no API server of Kubernetes: it knows no /version",
                   "correct the server's URL");
  }
  if (facts.took > kSlow) {
    judgement.warn(facts.url + " took " + took, "look for packet loss or a slow proxy on the way to it");
  }
}

void judge_pools(const ApiServerFacts& facts, Judgement& judgement) {
  switch (facts.pools) {
    case ApiServerFacts::Pools::kNotAsked:
      break;
    case ApiServerFacts::Pools::kReadable:
      judgement.note("GpuPools can be read");
      break;
    case ApiServerFacts::Pools::kForbidden:
      judgement.warn("these credentials may not read GpuPools, so the GPUs are compared with none",
                     "use a kubeconfig with the right: " + facts.pools_error);
      break;
    case ApiServerFacts::Pools::kUndefined:
      judgement.fail("the cluster has no GpuPools: gpupool is not installed there",
                     "install gpupool in the cluster first: docs/install.md");
      break;
    case ApiServerFacts::Pools::kFailed:
      judgement.fail("GpuPools cannot be read: " + facts.pools_error, "tell the cluster's administrator");
      break;
  }
}

}  // namespace

Finding judge_api_server(const ApiServerFacts& facts) {
  Judgement judgement("api-server");
  if (!facts.bad_config.empty()) {
    judgement.fail(facts.bad_config, "name another kubeconfig: --kubeconfig FILE");
  } else if (!facts.no_config.empty()) {
    judgement.warn("not tried: " + facts.no_config,
                   "--kubeconfig FILE; or, without credentials, --server https://HOST:6443");
  } else if (!facts.error.empty()) {
    judgement.fail(facts.url + ": " + facts.error,
                   "let this machine reach it (route, firewall, https_proxy and no_proxy): curl -k " +
                       facts.url + "/version");
  } else {
    judge_answer(facts, judgement);
    judge_pools(facts, judgement);
  }
  return judgement.finding();
}

}  // namespace gpupool::checks
