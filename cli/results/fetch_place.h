// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "failure/failure.h"
#include "results/fetch_files.h"
#include "results/places.h"
#include "s3/context.h"
#include "s3/session.h"

namespace gpupool::results {

struct FetchOptions {
  std::string ns;
  std::string job;
  std::string to;           // the directory of all places
  bool incomplete = false;  // without a manifest, take what is there
};

struct FetchedPlace {
  bool complete = false;  // all files that the job has saved
  FetchedFiles done;
  std::string why;  // why it is not complete
};

// Fetches the files of a place in a bucket that its manifest.json names, and checks them against it. Without
// a manifest of this attempt the place is incomplete: then nothing is fetched, or with options.incomplete all
// that is under the prefix. context.deadline is that of the files.
carry::Outcome<FetchedPlace> fetch_place(carry::s3::Session& bucket, const Place& place,
                                         const FetchOptions& options, const carry::s3::Context& context);

}  // namespace gpupool::results
