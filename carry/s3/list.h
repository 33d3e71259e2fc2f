// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "s3/context.h"
#include "s3/listing.h"
#include "s3/session.h"
#include "transfer/http_connection.h"

namespace gpupool::carry::s3 {

// Lists the objects under the folder `prefix`; an empty one is the whole bucket. kNotFound if there are none;
// kInvalid if they cannot all be files, see Listing::finish().
Outcome<Listing> list(Session& session, HttpConnection& connection, const std::string& prefix,
                      const Context& context);

// The same, but the listing is kept in the directory `state` and used again by a later process, so that all
// objects come from one listing. name: of the file.
Outcome<Listing> kept_list(Session& session, HttpConnection& connection, const std::string& prefix, int state,
                           const std::string& name, const Context& context);

}  // namespace gpupool::carry::s3
