// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/job_bill.h"

namespace gpupool::api {

// status.bill as the server stores it.
std::string bill_json(const JobBill& bill);

}  // namespace gpupool::api
