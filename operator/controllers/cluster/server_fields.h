// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "base/result.h"
#include "kube/client.h"
#include "planning/job/template_fields.h"

namespace gpupool::controllers {

// Reads the API server's OpenAPI document, which has some megabytes, and keeps of it only what a pod template
// consists of; while it arrives, at most one definition of 1 MiB is in memory. Every authenticated user may
// read it (role system:discovery). Blocks the caller's thread for at most 10 s. kParse if the document has no
// pod template.
base::Result<planning::TemplateFields> read_template_fields(kube::Client& client, std::stop_token stop);

}  // namespace gpupool::controllers
