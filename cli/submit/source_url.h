// SPDX-License-Identifier: Apache-2.0
// How --source and --result of `run` are written. Pure. All errors are kInvalidArgument, and no message has a
// part of a URL that could be a password.
#pragma once

#include <string>

#include "api/v1alpha1/job_data.h"
#include "base/result.h"

namespace gpupool::submit {

// "PATH=URL", where the URL is one of
//   https://HOST/FILE[#sha256=HEX]                    (or http)
//   s3://BUCKET/KEY[#sha256=HEX], s3://BUCKET/PREFIX/
//   git+https://HOST/REPOSITORY[//SUBDIRECTORY]@REF   (or git+http); git.commit is then REF
base::Result<api::SourceItem> parse_source(const std::string& text);

// "FROM=URL", where FROM is below the work directory and the URL is s3://BUCKET/PREFIX or pvc://CLAIM[/PATH].
base::Result<api::JobResult> parse_result(const std::string& text);

}  // namespace gpupool::submit
