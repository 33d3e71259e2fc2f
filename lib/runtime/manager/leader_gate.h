// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/manager/runnable.h"

namespace gpupool::runtime {

// Decides which of several programs runs its controllers. run() returns on its own when leadership is lost.
class LeaderGate : public Runnable {
 public:
  // Thread-safe.
  virtual bool leading() const = 0;
  // Lets another program lead at once. REQUIRES: run() has returned, and nothing that needs the leadership
  // runs.
  virtual void give_up() = 0;
};

}  // namespace gpupool::runtime
