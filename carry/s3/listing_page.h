// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "failure/failure.h"
#include "s3/listing.h"

namespace gpupool::carry::s3 {

// Adds the objects of one answer to ListObjectsV2 to `listing`, but for folder objects, whose keys end with a
// slash. Returns what to continue with; empty at the end. kInvalid for a document that is no such answer or
// has a key outside `prefix`.
Outcome<std::string> read_page(std::string_view document, const std::string& prefix, Listing& listing);

}  // namespace gpupool::carry::s3
