// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::test {

// While it lives, inotify refuses in this process as the kernel does at its limits.
class RefusedInotify {
 public:
  enum class What {
    kInstances,  // inotify_init1: EMFILE, as at fs.inotify.max_user_instances
    kWatches     // inotify_add_watch: ENOSPC, as at fs.inotify.max_user_watches
  };
  explicit RefusedInotify(What what);
  ~RefusedInotify();
  RefusedInotify(const RefusedInotify&) = delete;
  RefusedInotify& operator=(const RefusedInotify&) = delete;
};

}  // namespace gpupool::test
