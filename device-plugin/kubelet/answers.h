#pragma once

#include <string>

#include "base/result.h"
#include "device_plugin_v1beta1.pb.h"
#include "kubelet/offering.h"

namespace gpupool::kubelet {

// What one resource's plugin answers; nothing of it is remembered. Thread-safe. Errors are kInvalidArgument,
// kInvalid ("failed precondition") and kIo, in words for the pod's owner: the kubelet puts them into the
// pod's UnexpectedAdmissionError.
class Answers {
 public:
  Answers(const Offering& offering, std::string resource);

  base::Result<void> allocate(const v1beta1::AllocateRequest& request,
                              v1beta1::AllocateResponse& response) const;
  base::Result<void> prefer(const v1beta1::PreferredAllocationRequest& request,
                            v1beta1::PreferredAllocationResponse& response) const;

 private:
  base::Result<void> grant(const v1beta1::AllocateRequest& request,
                           v1beta1::AllocateResponse& response) const;

  const Offering& offering_;
  const std::string resource_;
  base::Histogram& seconds_;
  base::Counter& refused_;
};

}  // namespace gpupool::kubelet
