#pragma once

#include "runtime/manager/runnable.h"

namespace gpupool::runtime {

// Decides which of several programs runs its controllers. run() returns by itself when leadership was lost.
class LeaderGate : public Runnable {
 public:
  // Thread-safe.
  virtual bool leading() const = 0;
  // Lets another lead at once. After run() has returned, when nothing that needs the leadership runs any
  // more.
  virtual void give_up() = 0;
};

}  // namespace gpupool::runtime
