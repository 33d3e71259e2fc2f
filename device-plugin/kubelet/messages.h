// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "allocation/grant.h"
#include "device_plugin_v1beta1.pb.h"
#include "slices/table.h"

namespace gpupool::kubelet {

// The kubelet's gRPC client takes messages of 4 MiB at most; a larger list would end the stream again and
// again.
constexpr std::size_t kMaxListBytes = 4 * 1024 * 1024 - 64 * 1024;

struct DeviceList {
  v1beta1::ListAndWatchResponse message;
  std::size_t left_out = 0;  // slices that would have made it too long: the last ones
};

// The devices of a resource; none for a resource that is no longer offered.
DeviceList device_list(const slices::Resource* resource, std::size_t max_bytes = kMaxListBytes);
const slices::Resource* find_resource(const slices::Table& table, const std::string& name);
void fill(const allocation::Grant& grant, v1beta1::ContainerAllocateResponse& response);

}  // namespace gpupool::kubelet
