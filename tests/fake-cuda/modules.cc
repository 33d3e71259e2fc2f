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
  for (std::size_t i = 0; i < module->globals.size(); ++i)
    driver.memory().remove(module->block + i * kGlobalBytes);
  if (module->block != 0) release_addresses(module->block, kCodeBytes);
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

Pointer global_of(Driver& driver, Module& module, const std::string& name) {
  if (module.block == 0) module.block = reserve_addresses(kCodeBytes, kGranule);
  const auto known = std::ranges::find(module.globals, name);
  const auto offset = static_cast<std::uint64_t>(known - module.globals.begin()) * kGlobalBytes;
  if (module.block == 0 || offset >= kCodeBytes) return 0;
  if (known == module.globals.end()) {
    module.globals.push_back(name);
    driver.memory().add(module.block + offset, {.size = kGlobalBytes,
                                                .source = Source::kGlobal,
                                                .device = module.context->device,
                                                .context = module.context,
                                                .backing = std::make_shared<Backing>(kGlobalBytes)});
  }
  return module.block + offset;
}

Function* function_of(Module& module, const std::string& name) {
  const auto known =
      std::ranges::find_if(module.functions, [&](const auto& made) { return made->name == name; });
  if (known != module.functions.end()) return known->get();
  module.functions.push_back(std::make_unique<Function>(Function{.module = &module, .name = name}));
  return module.functions.back().get();
}

}  // namespace gpupool::fake_cuda
