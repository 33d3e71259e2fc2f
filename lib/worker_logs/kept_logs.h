// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kube/client.h"
#include "worker_logs/rank_reader.h"

// What a keeper has stored of jobs whose pods are gone (docs/logs.md).
namespace gpupool::logs {

// One attempt. Texts of the keeper; times are RFC 3339.
struct KeptAttempt {
  std::string job = {};  // name
  std::string uid = {};
  std::int64_t lease = 0;    // n of its lease's id: it names the attempt
  std::int64_t attempt = 0;  // its number for people
  std::string pool = {};
  std::int64_t ranks = 1;
  std::string begin = {};
  std::string end = {};      // empty: it runs
  std::string outcome = {};  // empty: it runs
  std::int64_t exit_code = 0;
  std::int64_t bytes = 0;  // on the keeper's disk
  std::int64_t lost = 0;   // of the output
};

struct KeptAttempts {
  std::vector<KeptAttempt> attempts = {};
};

// A way to a keeper. Thread-safe.
class KeptLogs {
 public:
  // client: of the server that answers, with the reader's identity; prefix: what comes before the keeper's
  // own paths, empty for the keeper itself. REQUIRES: the client outlives this.
  KeptLogs(kube::Client& client, std::string prefix) : client_(client), prefix_(std::move(prefix)) {}

  // Newest first. job, uid: empty: of all jobs. kNotFound, with a message for people, if there is no keeper.
  base::Result<std::vector<KeptAttempt>> attempts(const std::string& ns, const std::string& job,
                                                  const std::string& uid, const std::stop_token& stop) const;

  // Reads the logs of an attempt in place of those of pods: the name of a pod is a rank.
  FetchLog fetch(const std::string& ns, const KeptAttempt& attempt) const;

 private:
  kube::Client& client_;
  std::string prefix_;
};

}  // namespace gpupool::logs

namespace gpupool::base::json {

template <>
struct Schema<logs::KeptAttempt> {
  using T = logs::KeptAttempt;
  static constexpr auto fields = std::array{field<&T::job>("job"),         field<&T::uid>("uid"),
                                            field<&T::lease>("lease"),     field<&T::attempt>("attempt"),
                                            field<&T::pool>("pool"),       field<&T::ranks>("ranks"),
                                            field<&T::begin>("begin"),     field<&T::end>("end"),
                                            field<&T::outcome>("outcome"), field<&T::exit_code>("exitCode"),
                                            field<&T::bytes>("bytes"),     field<&T::lost>("lost")};
};
template <>
struct Schema<logs::KeptAttempts> {
  using T = logs::KeptAttempts;
  static constexpr auto fields = std::array{field<&T::attempts>("attempts")};
};

}  // namespace gpupool::base::json
