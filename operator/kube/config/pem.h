#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::kube {

// Whether the text has a complete PEM block of this kind ("CERTIFICATE", "PRIVATE KEY"); the TLS library
// looks at the content. The error begins with `where`.
base::Result<void> check_pem(std::string_view text, std::string_view kind, const std::string& where);

}  // namespace gpupool::kube
