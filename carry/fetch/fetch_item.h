// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "api/v1alpha1/job_data.h"
#include "api/v1alpha1/transfer_report.h"
#include "failure/failure.h"
#include "fetch/item_place.h"

namespace gpupool::carry {

// Fetches one item of a source; a CSV item is made of files that are there already. Blocks. The message of a
// failure names the item.
Outcome<api::TransferredItem> fetch_item(const api::SourceItem& item, const ItemPlace& place,
                                         const std::stop_token& stop);

// The same for single kinds, without the name of the item in messages.
Outcome<api::TransferredItem> fetch_http_item(const api::SourceItem& item, const ItemPlace& place,
                                              const std::stop_token& stop);
Outcome<api::TransferredItem> fetch_s3_item(const api::SourceItem& item, const ItemPlace& place,
                                            const std::stop_token& stop);
Outcome<api::TransferredItem> fetch_git_item(const api::SourceItem& item, const ItemPlace& place,
                                             const std::stop_token& stop);
Outcome<api::TransferredItem> fetch_config_map_item(const api::SourceItem& item, const ItemPlace& place,
                                                    const std::stop_token& stop);

}  // namespace gpupool::carry
