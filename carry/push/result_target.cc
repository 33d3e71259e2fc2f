// SPDX-License-Identifier: Apache-2.0
#include "push/result_target.h"

#include "push/s3_target.h"
#include "push/volume_target.h"

namespace gpupool::carry {

Outcome<std::unique_ptr<ResultTarget>> make_target(const api::JobResult& result, const PlaceNames& names,
                                                   const std::string& claims, const std::string& secrets,
                                                   const base::Clock& clock) {
  if (result.to.s3) {
    auto location = *result.to.s3;
    location.prefix = fill_in(std::move(location.prefix), names);
    return make_s3_target(std::move(location), result.secret.empty() ? "" : secrets + "/" + result.secret,
                          clock);
  }
  if (!result.to.volume) return failed(FailureKind::kInvalid, "to needs either s3 or volume");
  const auto& volume = *result.to.volume;
  return make_volume_target(claims + "/" + volume.claim_name, volume.claim_name, fill_in(volume.path, names));
}

}  // namespace gpupool::carry
