// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "slices/table.h"

namespace gpupool::slices {

// The published table for a file in the plugin's state directory. A plugin that starts with another
// configuration must know what cut the containers of its node still hold: podresources names their device
// IDs, but not the sizes. Take the restored table as Circumstances::previous of the first plan.
std::string save(const Table& table);
// kParse for what save() did not write.
base::Result<Table> restore(std::string_view text);

}  // namespace gpupool::slices
