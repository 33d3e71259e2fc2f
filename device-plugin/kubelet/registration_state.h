// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/file_identity.h"

namespace gpupool::kubelet {

// Decides when a plugin registers with the kubelet, from what can be seen. Makes no calls itself; not
// thread-safe.
//
// A registration is good as long as the kubelet keeps a ListAndWatch stream open. When a stream ends, the
// kubelet forgets the registration of that resource, even a newer one (its device manager finds the client by
// resource name). So a plugin whose stream has ended must close its whole server before it registers again.
class RegistrationState {
 public:
  struct Sight {
    base::FileIdentity kubelet;        // of kubelet.sock
    std::uint64_t streams_opened = 0;  // of the present server
    std::uint64_t streams_open = 0;
  };
  struct Next {
    bool register_now = false;
    base::Duration look_again;
  };
  enum class Answer { kAccepted, kNobody, kRefused };

  explicit RegistrationState(std::uint64_t seed);

  // The plugin's server was replaced: the new one must be registered.
  void serving_anew() { registered_ = false; }
  Next next(const Sight& sight, base::SteadyTime now);
  // The outcome of the registration that the last next() asked for.
  void answered(Answer answer, base::SteadyTime now);

  bool registered() const { return registered_; }
  // How often in a row the kubelet ended a young stream: something else registers for the same resource.
  int lost_in_a_row() const { return lost_in_a_row_; }

 private:
  Next registered_next(const Sight& sight, base::SteadyTime now);
  void lost(base::SteadyTime now);

  base::FileIdentity kubelet_;
  bool registered_ = false;
  bool streaming_ = false;
  base::SteadyTime registered_at_{};
  base::SteadyTime try_at_{};
  int lost_in_a_row_ = 0;
  base::Backoff absent_;
  base::Backoff nobody_;
  base::Backoff refused_;
  base::Backoff lost_;
};

}  // namespace gpupool::kubelet
