// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/fair/engine/policy.h"

namespace gpupool::bench::fair {

// First in, first out; who fits may pass the first that does not, if that one starts no later (EASY).
class FifoEasy final : public Policy {
 public:
  void arrived(JobId) override {}
  void ended(JobId) override {}
  void decide(Actions& actions) override;
};

}  // namespace gpupool::bench::fair
