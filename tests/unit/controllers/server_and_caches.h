// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "controllers/cluster/caches.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/kube/fake_transport.h"

namespace gpupool::test {

// A server with scripted answers, and caches with handlers that the test fills. Nothing watches the server.
class ServerAndCaches {
 protected:
  template <class K>
  static void put(runtime::Informer<K>& informer, K object) {
    informer.apply(std::move(object));
  }
  template <class K>
  static void vanish(runtime::Informer<K>& informer, const std::string& name) {
    informer.remove({K::kType.namespaced ? "ns" : "", name});
  }

  FakeTransport transport_;
  ManualClock clock_;
  base::Metrics metrics_;
  base::Log log_ = base::Log::none();
  kube::Client client_{transport_, nullptr, clock_, metrics_, {}};
  controllers::Caches caches_{client_, clock_, metrics_, log_};
};

}  // namespace gpupool::test
