// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::checks {

struct UnixSocket {
  bool exists = false;
  bool answers = false;  // accepts connections
};

}  // namespace gpupool::checks
