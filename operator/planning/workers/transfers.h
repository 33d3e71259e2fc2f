// SPDX-License-Identifier: Apache-2.0
// What a worker pod tells of its source and its results: the reports of gpupool-carry. Data of a program that
// runs beside the tenant's: any text and number may be in it. Pure.
#pragma once

#include <optional>

#include "api/core/pod.h"
#include "api/v1alpha1/problem.h"
#include "api/v1alpha1/transfer_report.h"

namespace gpupool::planning {

// Returns the report of the source, also if the container was started again; nothing if there is none.
std::optional<api::TransferReport> source_report(const api::Pod& pod);
// The same of the results.
std::optional<api::TransferReport> results_report(const api::Pod& pod);

// True if gpupool-carry has begun to fetch the source, or has fetched it.
bool fetches_source(const api::Pod& pod);
// True while the source is being fetched.
bool is_fetching(const api::Pod& pod);
// Why the source could not be fetched: as its report says, or for lack of memory; nothing if nothing failed.
std::optional<api::Problem> failure_of_source(const api::Pod& pod);
// True if the pod has a container for results whose report is missing and may still come: nothing runs any
// more in a pod that is over.
bool awaits_results(const api::Pod& pod);

}  // namespace gpupool::planning
