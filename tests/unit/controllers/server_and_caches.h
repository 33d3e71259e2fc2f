#pragma once

#include <utility>

#include "controllers/cluster/caches.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/kube/fake_transport.h"

namespace gpupool::test {

// A server that answers as a test says, and caches that a test fills: nothing watches it.
class ServerAndCaches {
 protected:
  template <class K>
  static void put(runtime::Informer<K>& informer, K object) {
    runtime::StoreWriter<K>(informer.store()).apply(std::move(object));
  }

  FakeTransport transport_;
  ManualClock clock_;
  base::Metrics metrics_;
  base::Log log_ = base::Log::none();
  kube::Client client_{transport_, nullptr, clock_, metrics_, {}};
  controllers::Caches caches_{client_, clock_, metrics_, log_};
};

}  // namespace gpupool::test
