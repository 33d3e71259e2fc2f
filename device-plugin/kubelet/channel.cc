// SPDX-License-Identifier: Apache-2.0
#include "kubelet/channel.h"

namespace gpupool::kubelet {

std::shared_ptr<grpc::Channel> local_channel(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  arguments.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

base::Error error_of(const grpc::Status& status, const std::string& call) {
  base::Error error{base::ErrorCode::kInvalid, call + ": " + status.error_message()};
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) error.code = base::ErrorCode::kTransport;
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) error.code = base::ErrorCode::kTimeout;
  if (status.error_code() == grpc::StatusCode::CANCELLED) error.code = base::ErrorCode::kCancelled;
  return error;
}

}  // namespace gpupool::kubelet
