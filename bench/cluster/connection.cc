// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/connection.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace gpupool::bench {
namespace {

kube::RestConfig load(const std::string& kubeconfig, base::Clock& clock) {
  auto config = kube::load_config({kubeconfig, ""}, clock);
  if (!config) {
    std::fprintf(stderr, "%s\n", config.error().message.c_str());
    std::exit(EXIT_FAILURE);
  }
  return *std::move(config);
}

sigset_t ends() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

Connection::Connection(const std::string& kubeconfig, const std::string& user_agent)
    : config_(load(kubeconfig, clock_)),
      transport_(config_.endpoint, user_agent),
      client_(transport_, config_.tokens.get(), clock_, metrics_, {}) {}

std::vector<std::jthread> Connection::fill(const std::vector<runtime::Reflector*>& caches) {
  std::vector<std::jthread> threads;
  for (auto* cache : caches) {
    threads.emplace_back([cache](std::stop_token stop) { cache->run(std::move(stop)); });
  }
  const auto end = clock_.now() + std::chrono::minutes(1);
  for (const auto* cache : caches) {
    while (!cache->synced()) {
      if (clock_.now() > end) {
        std::fprintf(stderr, "waited for the %s\n", cache->name().c_str());
        std::_Exit(EXIT_FAILURE);  // without destructors, because the threads still run
      }
      clock_.sleep_for(std::chrono::milliseconds(10), {});
    }
  }
  return threads;
}

void block_signals() {
  const auto set = ends();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void wait_for_signal() {
  const auto set = ends();
  int number = 0;
  sigwait(&set, &number);
}

}  // namespace gpupool::bench
