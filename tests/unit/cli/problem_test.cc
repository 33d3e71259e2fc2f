// SPDX-License-Identifier: Apache-2.0
#include "command/problem.h"

#include <gtest/gtest.h>

namespace gpupool::command {
namespace {

using base::ErrorCode;

TEST(Problem, IsWordedAsByKubectl) {
  const std::pair<base::Error, const char*> errors[] = {
      {{ErrorCode::kNotFound, "get GpuJob lab/x: gpujobs.gpupool.dev \"x\" not found", 404, "NotFound"},
       "Error from server (NotFound): gpujobs.gpupool.dev \"x\" not found\n"},
      {{ErrorCode::kUnauthorized, "list GpuJob lab: Unauthorized", 401, "Unauthorized"},
       "error: You must be logged in to the server (Unauthorized)\n"},
      {{ErrorCode::kTransport, "get GpuJob lab/x: connection refused", 0},
       "Unable to connect to the server: connection refused\n"},
      {{ErrorCode::kBadRequest, "list GpuJob lab: HTTP 404: no page", 404}, "error: HTTP 404: no page\n"},
      {{ErrorCode::kIo, "kubeconfig: /x: No such file", 0}, "error: kubeconfig: /x: No such file\n"},
      {{ErrorCode::kServer, "get GpuJob lab/x: a\x1b[2Jb", 500, "InternalError"},
       "Error from server (InternalError): a [2Jb\n"},
  };
  for (const auto& [error, text] : errors) EXPECT_EQ(problem_text(error), text);
}

}  // namespace
}  // namespace gpupool::command
