// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace gpupool::kubelet {

constexpr int kMaxReceiveBytes = 16 * 1024 * 1024;  // as the kubelet's own clients of pod-resources

// A channel of its own: gRPC otherwise shares connections, and with them how long to wait after a failure.
std::shared_ptr<grpc::Channel> local_channel(const std::string& socket);
// kTransport where nobody answers, kTimeout, kCancelled, else kInvalid.
base::Error error_of(const grpc::Status& status, const std::string& call);

}  // namespace gpupool::kubelet
