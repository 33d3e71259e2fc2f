// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "s3/address.h"
#include "s3/credentials.h"
#include "transfer/protocol.h"
#include "transfer/trust_store.h"

namespace gpupool::carry::s3 {

// A bucket and who asks for it: makes URLs, signs, learns the region from the server, and reads the Secret
// again when the session token has expired. Targets are what object_target() and bucket_target() return.
// Thread-safe.
class Session final : public Protocol {
 public:
  // secret_directory: empty for anonymous requests. clock: for the time stamps of signatures; must outlive
  // the session. Failures are those of address_of() and read_credentials().
  static Outcome<std::unique_ptr<Session>> open(const api::S3Location& location, std::string secret_directory,
                                                const base::Clock& clock);
  // The same with credentials that are known already, and are not read again.
  static Outcome<std::unique_ptr<Session>> open(const api::S3Location& location, Credentials credentials,
                                                const base::Clock& clock);

  std::string url(const std::string& target) const override;
  Outcome<std::vector<Header>> sign(const HttpRequest& request) override;
  Outcome<bool> amend(const HttpAnswer& answer, Amends& made) override;
  std::optional<FailureKind> kind(const HttpAnswer& answer) const override;
  std::string explain(const HttpAnswer& answer) const override;
  bool follows_redirects() const override { return false; }

  const std::shared_ptr<const TrustStore>& trust() const { return trust_; }

 private:
  static Outcome<std::unique_ptr<Session>> make(const api::S3Location& location, std::string secret_directory,
                                                Credentials credentials, const base::Clock& clock);
  Session(Address address, std::string region, std::string secret_directory, Credentials credentials,
          const base::Clock& clock);
  bool amend_region(const HttpAnswer& answer, Amends& made);

  const Address address_;
  const std::string secret_directory_;
  const base::Clock& clock_;
  const std::shared_ptr<const TrustStore> trust_;
  mutable base::Mutex mutex_;
  std::string region_ GPUPOOL_GUARDED_BY(mutex_);
  bool region_learned_ GPUPOOL_GUARDED_BY(mutex_) = false;
  Credentials credentials_ GPUPOOL_GUARDED_BY(mutex_);
};

// query: encoded and sorted; may be empty.
std::string object_target(std::string_view key, const std::string& query = "");
std::string bucket_target(const std::string& query);

}  // namespace gpupool::carry::s3
