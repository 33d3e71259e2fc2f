// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/call.h"
#include "net/transport.h"

namespace gpupool::kube {

// Returns the error of a non-2xx answer, by Status.reason first and HTTP code second. Retry-After is cut to
// 10 minutes. Pure.
// A 404 without a Status does not prove that the object is gone: the CRD may be missing, or a proxy may have
// answered. For a resource it becomes kBadRequest, so kNotFound always means that the object does not exist.
base::Error api_error(const Call& call, const net::HttpResponse& response);

// The same for a Status alone, as in the ERROR event of a watch. kParse if the text is no Status.
base::Error status_error(std::string_view status_json);

// True if the server examined the request and refused it (400, 403, 422). Sending it again is useless until
// somebody changes something.
bool is_refusal(const base::Error& error);

// True for the 403 of RBAC: this program lacks a permission, whatever it sent.
bool is_missing_rule(const base::Error& error);

// True if a webhook with side effects prevents requests with dryRun=All.
bool cannot_dry_run(const base::Error& error);

// True for the 500 of an admission webhook that cannot be reached or fails.
bool is_webhook_failure(const base::Error& error);

// True for the 403 of a create in a namespace that is being deleted.
bool is_namespace_terminating(const base::Error& error);

}  // namespace gpupool::kube
