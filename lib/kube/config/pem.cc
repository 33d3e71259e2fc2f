// SPDX-License-Identifier: Apache-2.0
#include "kube/config/pem.h"

namespace gpupool::kube {

base::Result<void> check_pem(std::string_view text, std::string_view kind, const std::string& where) {
  const std::string end_of_line = std::string(kind) + "-----";
  const auto begin = text.find("-----BEGIN ");
  const auto end = text.rfind("-----END ");
  const bool complete = begin != std::string_view::npos && end != std::string_view::npos && begin < end &&
                        text.find(end_of_line, begin) < end &&
                        text.find(end_of_line, end) != std::string_view::npos;
  if (complete) return {};
  return base::fail(base::ErrorCode::kInvalidArgument,
                    where + " holds no complete PEM block of a " + std::string(kind));
}

}  // namespace gpupool::kube
