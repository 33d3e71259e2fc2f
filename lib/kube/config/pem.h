// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::kube {

// Checks that the text has a complete PEM block of this kind ("CERTIFICATE", "PRIVATE KEY"). The TLS library
// checks its content. The error begins with `where`.
base::Result<void> check_pem(std::string_view text, std::string_view kind, const std::string& where);

}  // namespace gpupool::kube
