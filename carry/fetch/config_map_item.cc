// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/unique_fd.h"
#include "fetch/fetch_item.h"
#include "files/file_error.h"
#include "files/output_file.h"

namespace gpupool::carry {

Outcome<api::TransferredItem> fetch_config_map_item(const api::SourceItem& item, const ItemPlace& place,
                                                    const std::stop_token& stop) {
  const auto& [name, key] = *item.config_map;
  const auto path = place.config_maps + "/" + name + "/" + key;
  const base::UniqueFd source(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.valid() && errno == ENOENT)
    return failed(FailureKind::kNotFound, "the ConfigMap " + name + " has no key " + key);
  if (!source.valid()) return file_failure("cannot open the key " + key + " of the ConfigMap " + name, errno);
  auto file = OutputFile::open(place.root, item.path, "", *place.budget);
  if (!file) return tl::unexpected(file.error());
  std::vector<char> buffer(1U << 16U);
  while (!stop.stop_requested()) {
    const auto got = ::read(source.get(), buffer.data(), buffer.size());
    if (got < 0) return file_failure("cannot read " + path, errno);
    if (got == 0) {
      auto written = file->commit(item.sha256);
      if (!written) return tl::unexpected(written.error());
      api::TransferredItem fetched;
      fetched.files = 1;
      fetched.bytes = written->bytes;
      fetched.digest = "sha256:" + written->sha256;
      return fetched;
    }
    if (auto done = file->write({buffer.data(), static_cast<std::size_t>(got)}); !done)
      return tl::unexpected(done.error());
  }
  return failed(FailureKind::kStopped, "was stopped");
}

}  // namespace gpupool::carry
