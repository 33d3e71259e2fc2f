#pragma once

#include <string>
#include <string_view>

#include "api/meta/resource_type.h"
#include "base/result.h"
#include "kube/client.h"

// Paths and queries of the API server, percent-encoded. Pure. A key that would address something else than
// one object (an empty name turns a delete into a delete of the whole collection) is kInvalidArgument.
namespace gpupool::kube {

// RFC 3986: everything but unreserved characters is encoded.
std::string percent_encode(std::string_view text);

// ns empty: the collection over all namespaces.
base::Result<std::string> collection_path(const api::ResourceType& type, const std::string& ns);
// As collection_path, but a namespaced type needs its namespace, because objects are made in one.
base::Result<std::string> create_path(const api::ResourceType& type, const std::string& ns);
base::Result<std::string> object_path(const api::ResourceType& type, const api::ObjectKey& key,
                                      const std::string& subresource);

// With the leading '?', or empty.
std::string list_query(const ListOptions& options);
std::string watch_query(const WatchOptions& options);

}  // namespace gpupool::kube
