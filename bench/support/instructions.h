// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::bench {

// Whether this program runs under callgrind, which counts instructions; times mean nothing then. Started with
// --instr-atstart=no it counts between begin_count() and end_count() alone, in all threads, and end_count()
// writes a file that says: all this was so many times this. Without callgrind both do nothing.
bool counting();
void begin_count();
void end_count(const std::string& name, int times);

// One pass, after another that fills caches of all sorts.
template <class Pass>
void count_pass(const std::string& name, const Pass& pass) {
  pass();
  begin_count();
  pass();
  end_count(name, 1);
}

}  // namespace gpupool::bench
