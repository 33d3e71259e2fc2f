// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::fake_cuda {

// One line of the files of answers: asked for `name` of a version from `version` on, drivers from `driver` on
// say `function`.
struct ProcEntry {
  const char* name;
  int version;
  int driver;
  void* function;
  bool legacy;
  bool per_thread;
};

// Generated; the entries of a name are together, oldest version first.
extern const ProcEntry kProcTable[];
extern const unsigned kProcCount;

}  // namespace gpupool::fake_cuda
