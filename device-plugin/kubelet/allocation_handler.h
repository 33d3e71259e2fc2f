// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "device_plugin_v1beta1.pb.h"
#include "kubelet/plugin_context.h"

namespace gpupool::kubelet {

// Answers Allocate and GetPreferredAllocation of one resource. Keeps no state between calls: an answer
// follows from the published table and rules, so a restarted plugin gives the same one.
//
// Thread-safe; called on gRPC's threads, several at a time. Errors are kInvalidArgument, kInvalid ("failed
// precondition") and kIo. Their messages are for the pod's owner: the kubelet shows them as
// UnexpectedAdmissionError.
class AllocationHandler {
 public:
  AllocationHandler(const PluginContext& context, std::string resource);

  // Writes the limits files and regions of the containers before it returns. Holds the allocation gate
  // meanwhile, and calls context.on_allocated() afterwards.
  base::Result<void> allocate(const v1beta1::AllocateRequest& request,
                              v1beta1::AllocateResponse& response) const;
  // Has no effects.
  base::Result<void> prefer(const v1beta1::PreferredAllocationRequest& request,
                            v1beta1::PreferredAllocationResponse& response) const;

 private:
  base::Result<void> grant(const v1beta1::AllocateRequest& request,
                           v1beta1::AllocateResponse& response) const;

  base::Result<void> renew_region(const allocation::Grant& grant, const std::vector<std::string>& ids) const;

  const PluginContext& context_;
  const std::string resource_;
  base::Histogram& seconds_;
  base::Counter& refused_;
};

}  // namespace gpupool::kubelet
