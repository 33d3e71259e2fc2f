# SPDX-License-Identifier: Apache-2.0
"""What GitOps tools must say about each fixture. docs/operations.md says why."""

# (kstatus, Argo CD): fixtures
VERDICTS = {
    ("InProgress", "Progressing"): [
        "gpujob-new", "gpujob-edited-unseen", "gpujob-queued-behind-others", "gpujob-queued-no-matching-model",
        "gpujob-queued-no-such-node", "gpujob-queued-pool-stalled", "gpujob-queued-pool-stopping",
        "gpujob-queued-too-large", "gpujob-queued-waiting-for-nodes", "gpujob-taking",
        "gpujob-starting", "gpujob-placement-refused", "gpujob-restarting", "gpujob-restarting-node-lost",
        "gpujob-restarting-source-unavailable", "gpujob-restarting-worker-lost", "gpujob-releasing", "gpujob-releasing-suspended",
        "gpusweep-new", "gpupool-new", "gpupool-edited-unseen", "gpupool-nodes-in-older-pool", "gpupool-without-nodes"],
    ("Current", "Progressing"): [
        "gpujob-running", "gpujob-running-draining", "gpujob-running-waiting-for-lost-node", "gpusweep-running"],
    ("Current", "Suspended"): ["gpujob-suspended", "gpusweep-suspended"],
    ("Current", "Healthy"): [
        "gpujob-succeeded", "gpusweep-succeeded", "gpusweep-target-reached", "gpupool-ready", "gpupool-ready-sharing"],
    ("Failed", "Degraded"): [
        "gpujob-failed-backoff-limit", "gpujob-failed-deadline", "gpujob-failed-source-denied", "gpujob-failed-start-timeout",
        "gpujob-releasing-forbidden", "gpujob-running-spec-changed", "gpujob-stalled-forbidden",
        "gpujob-stalled-invalid-spec", "gpujob-stalled-invalid-template", "gpujob-stalled-name-conflict",
        "gpujob-stalled-pool-not-found", "gpujob-stalled-quota-exceeded",
        "gpujob-stalled-refused-template", "gpujob-stalled-slice-in-exclusive-pool",
        "gpusweep-failed-max-failed", "gpusweep-failed-no-trial", "gpusweep-running-spec-changed",
        "gpusweep-running-trial-invalid", "gpusweep-stalled-invalid-spec",
        "gpupool-stalled-node-name-pattern", "gpupool-stalled-node-selector"],
    ("Terminating", "Progressing"): [
        "gpujob-deleting", "gpujob-deleting-unseen", "gpupool-deleting", "gpupool-deleting-unseen"],
}
OF = {name: verdict for verdict, names in VERDICTS.items() for name in names}

# Reasons that no fixture shows: others look the same, and most of these nobody can bring about at will.
LIKE = {
    "CreateFailed": "gpujob-placement-refused",
    "DeletedByForce": "gpujob-restarting-worker-lost",
    "FirstInLine": "gpujob-queued-waiting-for-nodes",
    "LimitReached": "gpujob-queued-waiting-for-nodes",
    "MetricMissing": "gpusweep-failed-no-trial",  # only in status.failures, as is TrialDeleted
    "Moving": "gpujob-restarting-node-lost",
    "NamespaceTerminating": "gpujob-queued-waiting-for-nodes",
    "NoMatchingNode": "gpujob-queued-no-matching-model",
    "NoMatchingGpus": "gpupool-without-nodes",
    "NodeCordoned": "gpujob-restarting-node-lost",
    "NodeTaken": "gpujob-queued-waiting-for-nodes",
    "BudgetExhausted": "gpujob-queued-waiting-for-nodes",  # and gpujob-suspended
    "WrongCurrency": "gpujob-queued-waiting-for-nodes",
    "PriceTooHigh": "gpujob-queued-waiting-for-nodes",
    "SliceExceeded": "gpujob-restarting-source-unavailable",  # and gpujob-running-draining, gpujob-failed-backoff-limit
    "SourceInvalid": "gpujob-failed-source-denied",
    "SourceMismatch": "gpujob-failed-source-denied",
    "SourceNotFound": "gpujob-failed-source-denied",
    "SourceTooLarge": "gpujob-failed-source-denied",
    "TenantRefused": "gpujob-queued-waiting-for-nodes",
    "TrialDeleted": "gpusweep-failed-no-trial",
    "WaitingForTurn": "gpujob-queued-waiting-for-nodes",
    "WaitingForResult": "gpujob-running-waiting-for-lost-node",
    "WorkerChanged": "gpujob-stalled-refused-template",
    "Yielded": "gpujob-restarting-worker-lost",
    "VictimStuck": "gpujob-queued-waiting-for-nodes",
    "WaitingForYield": "gpujob-queued-waiting-for-nodes",
}
