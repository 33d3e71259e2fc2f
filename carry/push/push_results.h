// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "api/v1alpha1/job_data.h"
#include "api/v1alpha1/transfer_report.h"
#include "base/clock.h"
#include "failure/failure.h"
#include "push/file_list.h"
#include "push/place_names.h"
#include "push/result_target.h"

namespace gpupool::carry {

// Puts away the files of one entry of spec.results: again and again while the command runs, if that is
// wanted, and once at its end. Not thread-safe.
class ResultPush {
 public:
  using MakeTarget = std::function<Outcome<std::unique_ptr<ResultTarget>>()>;
  // work: the path of the work directory. make: called until it succeeds once.
  ResultPush(api::JobResult wanted, PlaceNames names, std::string work, MakeTarget make, base::Clock& clock);

  const api::JobResult& wanted() const { return wanted_; }
  // Puts files that are new or have changed, but not within the last kSettled. What fails is tried again at
  // the next call.
  void sync(base::SteadyTime deadline, std::stop_token stop);
  // Puts all files, then the manifest, which says whether all are there. Tries again until the deadline what
  // may pass. REQUIRES: the command has ended, or is told to.
  api::TransferredItem finish(base::SteadyTime deadline, std::stop_token stop);

  static constexpr char kManifest[] = "manifest.json";
  static constexpr base::Duration kSettled = std::chrono::seconds(2);

 private:
  struct Put {
    FileVersion version;
    std::string sha256;
  };
  Outcome<void> connect();
  Outcome<FileList> list() const;
  Outcome<void> put_new(const FileList& list, base::SteadyTime deadline, std::stop_token stop);
  Outcome<void> remove_gone(const FileList& list, base::SteadyTime deadline, std::stop_token stop);
  Outcome<void> finish_once(api::TransferredItem& item, base::SteadyTime deadline, std::stop_token stop);
  std::string manifest(const FileList& list) const;

  const api::JobResult wanted_;
  const PlaceNames names_;
  const std::string work_;
  const MakeTarget make_;
  base::Clock& clock_;
  std::unique_ptr<ResultTarget> target_ = nullptr;
  std::map<std::string, Put> put_ = {};  // by name
};

}  // namespace gpupool::carry
