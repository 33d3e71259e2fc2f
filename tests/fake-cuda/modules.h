// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/fake-cuda/driver.h"

namespace gpupool::fake_cuda {

// A kernel is whatever a program asks for: the fake does not read images.
struct Function {
  Module* module = nullptr;
  std::string name;
  std::size_t local_bytes = 0;
};

struct Module {
  Context* context = nullptr;
  std::uint64_t charged = 0;  // code
  std::vector<std::unique_ptr<Function>> functions;
};

// Takes the bytes of the module's code; null: out of memory.
Module* load_module(Driver& driver, Context& context);
void unload_module(Driver& driver, Module* module);
bool is_module(Driver& driver, const Module* module);
bool is_function(Driver& driver, const Function* function);
Function* function_of(Module& module, const std::string& name);

}  // namespace gpupool::fake_cuda
