// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/meta/object_meta.h"

namespace gpupool::controllers {

// Returns a JSON patch that adds or removes one finalizer by its index. The server refuses it for any other
// version of the object, so finalizers of others are never lost. Empty if nothing needs to change.
std::string finalizer_patch(const api::ObjectMeta& metadata, const std::string& finalizer, bool wanted);

}  // namespace gpupool::controllers
