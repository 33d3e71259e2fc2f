#pragma once

#include <string>

#include "api/meta/object_meta.h"

namespace gpupool::controllers {

// A JSON patch that adds or removes one finalizer, by index and only on this version of the object, so that
// others' finalizers are never lost. Empty if the object is so already.
std::string finalizer_patch(const api::ObjectMeta& metadata, const std::string& finalizer, bool wanted);

}  // namespace gpupool::controllers
