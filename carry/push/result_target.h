// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "api/v1alpha1/job_data.h"
#include "base/clock.h"
#include "failure/failure.h"
#include "push/place_names.h"

namespace gpupool::carry {

// Where the files of one entry of spec.results go. Names are relative paths. Not thread-safe.
class ResultTarget {
 public:
  virtual ~ResultTarget() = default;
  // Puts the file below the directory fd `root`, which is there whole or not at all afterwards. Returns its
  // SHA-256, in hex. kMismatch: it changed while it was read.
  virtual Outcome<std::string> put(int root, const std::string& path, const std::string& name,
                                   base::SteadyTime deadline, std::stop_token stop) = 0;
  virtual Outcome<void> put_text(const std::string& text, const std::string& name, base::SteadyTime deadline,
                                 std::stop_token stop) = 0;
  // Removes what put() has put there.
  virtual Outcome<void> remove(const std::string& name, base::SteadyTime deadline, std::stop_token stop) = 0;
  // "s3://bucket/prefix" or "claim NAME: path", for people.
  virtual std::string text() const = 0;
};

// claims, secrets: directories with one directory for each claim and Secret. clock: must outlive the target.
Outcome<std::unique_ptr<ResultTarget>> make_target(const api::JobResult& result, const PlaceNames& names,
                                                   const std::string& claims, const std::string& secrets,
                                                   const base::Clock& clock);

}  // namespace gpupool::carry
