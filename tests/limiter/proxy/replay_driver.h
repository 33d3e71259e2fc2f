// SPDX-License-Identifier: Apache-2.0
#pragma once

// One rule of drivers/cuda_answers.txt, with the function of this library. Rules of a name are in the order
// of versions.
struct ReplayRule {
  const char* name;
  int version;
  bool legacy;
  bool per_thread;
  void* function;
};
extern const ReplayRule replay_rules[] __attribute__((visibility("hidden")));
extern const unsigned replay_rule_count __attribute__((visibility("hidden")));
