#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/call.h"
#include "net/transport.h"

namespace gpupool::kube {

// The error that a non-2xx answer means, by Status.reason first and HTTP code second. A pause that the server
// asks for is at most ten minutes. Pure.
// A 404 that is no Status does not say that the object is gone (the CRD may be missing, or a proxy answered),
// so for a resource it is kBadRequest; the truth about an object is only ever kNotFound with reason
// "NotFound".
base::Error api_error(const Call& call, const net::HttpResponse& response);

// The same for a Status alone, as in a watch's ERROR event. kParse if the text is no Status.
base::Error status_error(std::string_view status_json);

// True if the server looked at what it was sent and said no (400, 403, 422): sent again, it says the same
// until somebody changes something.
bool is_refusal(const base::Error& error);

// True for the 403 of RBAC: this program lacks a permission, whatever was sent.
bool is_missing_rule(const base::Error& error);

// True if something in the cluster (a webhook with side effects) cannot answer requests with dryRun=All.
bool cannot_dry_run(const base::Error& error);

// True for the 403 that creates get in a namespace which is being deleted.
bool is_namespace_terminating(const base::Error& error);

}  // namespace gpupool::kube
