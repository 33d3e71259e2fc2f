// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "failure/failure.h"

namespace gpupool::carry {

// Returns the reason of a report (api/v1alpha1/reasons.h) for a source that failed so.
const char* reason_of(FailureKind kind);

}  // namespace gpupool::carry
