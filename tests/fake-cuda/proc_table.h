// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::fake_cuda {

// One line of proc_address.txt.
struct ProcEntry {
  const char* name;
  int version;
  void* function;
  bool legacy;
  bool per_thread;
};

// Generated; the entries of a name are together, oldest first.
extern const ProcEntry kProcTable[];
extern const unsigned kProcCount;

}  // namespace gpupool::fake_cuda
