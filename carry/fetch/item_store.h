// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "api/v1alpha1/transfer_report.h"
#include "failure/failure.h"

namespace gpupool::carry {

// Remembers in a directory of the pod which items are complete, so that a fetch that starts again does not
// repeat them. Thread-safe for different items.
class ItemStore {
 public:
  // directory: made by the caller.
  explicit ItemStore(std::string directory) : directory_(std::move(directory)) {}

  std::optional<api::TransferredItem> complete(std::size_t index) const;
  Outcome<void> store(std::size_t index, const api::TransferredItem& item);
  // The report of a fetch that has ended well; nothing if there is none.
  std::optional<std::string> whole() const;
  Outcome<void> store_whole(const std::string& report);

 private:
  std::optional<std::string> read(const std::string& name) const;
  Outcome<void> write(const std::string& name, const std::string& text);

  const std::string directory_;
};

}  // namespace gpupool::carry
