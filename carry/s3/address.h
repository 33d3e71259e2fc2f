// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/job_data.h"
#include "failure/failure.h"

namespace gpupool::carry::s3 {

inline constexpr char kDefaultRegion[] = "us-east-1";

// Where the objects of a bucket are.
struct Address {
  std::string endpoint;  // URL without a slash at its end; empty: AWS
  std::string bucket;
};

// kInvalid if the bucket's name breaks the rules of S3 (3 to 63 lower-case letters, digits, dots and hyphens,
// no IP address), or the endpoint is no http or https URL, or has a user, password or query. Pure.
Outcome<Address> address_of(const api::S3Location& location);

// Whether the text is a region's name, so that it may be part of a host's name.
bool is_region(const std::string& text);

// target: what is below the bucket, with a slash before it, encoded. An endpoint and buckets with dots have
// the bucket in the path, others in the host's name.
std::string url_of(const Address& address, const std::string& region, const std::string& target);

}  // namespace gpupool::carry::s3
