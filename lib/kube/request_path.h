// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/meta/resource_type.h"
#include "base/result.h"
#include "kube/client.h"

// Paths and queries of the API server, percent-encoded. Pure. A key that would address something other than
// one object is kInvalidArgument: with an empty name, a delete would delete the whole collection.
namespace gpupool::kube {

// RFC 3986: encodes everything except unreserved characters.
std::string percent_encode(std::string_view text);

// ns empty: the collection over all namespaces.
base::Result<std::string> collection_path(const api::ResourceType& type, const std::string& ns);
// Like collection_path, but a namespaced type requires a namespace.
base::Result<std::string> create_path(const api::ResourceType& type, const std::string& ns);
base::Result<std::string> object_path(const api::ResourceType& type, const api::ObjectKey& key,
                                      const std::string& subresource);

// Includes the leading '?', or is empty.
std::string list_query(const ListOptions& options);
std::string watch_query(const WatchOptions& options);
std::string log_query(const LogOptions& options);

}  // namespace gpupool::kube
