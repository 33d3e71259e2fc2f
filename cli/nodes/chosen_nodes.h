// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "api/meta/resource_type.h"
#include "base/result.h"
#include "command/session.h"

namespace gpupool::nodes {

// What `top` is about.
struct Chosen {
  std::string title;                                  // "pool lab"; empty: everything
  std::optional<std::set<std::string>> names = {};    // of nodes; nothing: all
  std::optional<std::set<api::ObjectKey>> pods = {};  // only GPUs of these pods
};

// word: the name of a pool, node or job, also as pool/NAME, node/NAME, job/NAME; empty: everything. kNotFound
// if nothing has the name, kInvalidArgument if several have.
base::Result<Chosen> choose(command::Session& session, const std::string& word, const std::stop_token& stop);

}  // namespace gpupool::nodes
