// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "api/v1alpha1/job_data.h"
#include "base/result.h"

namespace gpupool::submit {

// Whether the text is a whole commit id.
bool is_commit(std::string_view reference);

// Asks the repository, with one listing of git protocol 2, for the commit of the branch or tag in
// location.commit; an annotated tag gives what it points to. Credentials come from the variables GIT_USERNAME
// and GIT_PASSWORD, or from GIT_PASSWORD alone if it is a token. Blocks, for at most 30 s. kNotFound: there
// is no such branch or tag; kIo: it cannot be asked, or has a branch and a tag of this name.
//
// REQUIRES: a net::CurlGlobal.
base::Result<std::string> resolve_reference(const api::GitLocation& location, const std::stop_token& stop);

}  // namespace gpupool::submit
