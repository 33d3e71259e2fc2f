// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/modules.h"

#include <algorithm>

namespace gpupool::fake_cuda {

namespace {

// What the code of a module takes, whatever its image.
constexpr std::uint64_t kCodeBytes = kGranule;

}  // namespace

Module* load_module(Driver& driver, Context& context) {
  if (!driver.charge(*context.device, Kind::kContext, kCodeBytes)) return nullptr;
  auto* const made = new Module;
  made->context = &context;
  made->charged = kCodeBytes;
  context.modules.insert(made);
  return made;
}

void unload_module(Driver& driver, Module* module) {
  driver.discharge(*module->context->device, Kind::kContext, module->charged);
  module->context->modules.erase(module);
  delete module;
}

bool is_module(Driver& driver, const Module* module) {
  return std::ranges::any_of(driver.contexts(), [&](const Context* context) {
    return context->modules.contains(const_cast<Module*>(module));
  });
}

bool is_function(Driver& driver, const Function* function) {
  return std::ranges::any_of(driver.contexts(), [&](const Context* context) {
    return std::ranges::any_of(context->modules, [&](const Module* module) {
      return std::ranges::any_of(module->functions, [&](const auto& made) { return made.get() == function; });
    });
  });
}

Function* function_of(Module& module, const std::string& name) {
  const auto known =
      std::ranges::find_if(module.functions, [&](const auto& made) { return made->name == name; });
  if (known != module.functions.end()) return known->get();
  module.functions.push_back(std::make_unique<Function>(Function{.module = &module, .name = name}));
  return module.functions.back().get();
}

}  // namespace gpupool::fake_cuda
