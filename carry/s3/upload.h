// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "s3/context.h"
#include "s3/session.h"
#include "transfer/http_connection.h"

namespace gpupool::carry::s3 {

inline constexpr std::int64_t kPartBytes = std::int64_t{64} << 20U;

struct UploadedFile {
  std::int64_t bytes = 0;
  std::string sha256;
};

// Sends the regular file `fd` as the object `key`, streamed; whole up to `part_bytes`, else in parts (at most
// 10,000, which are larger for larger files). A request that fails for a while is made again. kMismatch if
// the file changed while it was read; then, and on any failure, nothing of the parts is left at the server,
// but an object of one request may be there. name: of the file, for messages. Reads at offsets of its own.
Outcome<UploadedFile> put_object(Session& session, HttpConnection& connection, int fd,
                                 const std::string& name, const std::string& key, const Context& context,
                                 std::int64_t part_bytes = kPartBytes);

// An object that is not there counts as deleted.
Outcome<void> delete_object(Session& session, HttpConnection& connection, const std::string& key,
                            const Context& context);

}  // namespace gpupool::carry::s3
