// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "command/session.h"
#include "s3/credentials.h"

namespace gpupool::results {

// The credentials for a bucket: from the Secret of the session's namespace, read with the caller's rights; an
// empty name: none. If the caller may not read it, or with from_environment, from AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, with the certificates in the file AWS_CA_BUNDLE; the former is
// told to `notes`. No error has a value in it.
base::Result<carry::s3::Credentials> bucket_credentials(command::Session& session, const std::string& secret,
                                                        bool from_environment, std::ostream& notes,
                                                        const std::stop_token& stop);

}  // namespace gpupool::results
