// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reasons in status.reason, conditions and events. docs/operations.md explains each and says what to do.
namespace gpupool::api::reason {

// Why a job waits.
inline constexpr char kWaitingForNodes[] = "WaitingForNodes";
inline constexpr char kWaitingForTurn[] = "WaitingForTurn";    // in a pool with spec.queue
inline constexpr char kFirstInLine[] = "FirstInLine";          // the same; nodes are kept for the job
inline constexpr char kWaitingForYield[] = "WaitingForYield";  // other jobs make room for it
inline constexpr char kVictimStuck[] = "VictimStuck";          // a job that made room did not end in time
inline constexpr char kLimitReached[] = "LimitReached";        // of its tenant
inline constexpr char kTenantRefused[] = "TenantRefused";      // the pool is not for its namespace
inline constexpr char kPoolNotFound[] = "PoolNotFound";
inline constexpr char kPoolStopping[] = "PoolStopping";
inline constexpr char kPoolStalled[] = "PoolStalled";
inline constexpr char kNoSuchNode[] = "NoSuchNode";
inline constexpr char kTooLarge[] = "TooLarge";
inline constexpr char kNoMatchingModel[] = "NoMatchingModel";
inline constexpr char kNoMatchingNode[] = "NoMatchingNode";    // labels and affinity of the template
inline constexpr char kPriceTooHigh[] = "PriceTooHigh";        // for spec.maxPricePerGpuHour
inline constexpr char kBudgetExhausted[] = "BudgetExhausted";  // of the account that pays
inline constexpr char kWrongCurrency[] = "WrongCurrency";      // the pool's is not the account's
inline constexpr char kSuspended[] = "Suspended";

// Why a job or a pool is stalled until a person acts.
inline constexpr char kInvalidSpec[] = "InvalidSpec";
inline constexpr char kInvalidTemplate[] = "InvalidTemplate";  // found by gpupool
inline constexpr char kTemplateRefused[] = "TemplateRefused";  // by the API server
inline constexpr char kNameConflict[] = "NameConflict";
inline constexpr char kSpecChanged[] = "SpecChanged";
inline constexpr char kForbidden[] = "Forbidden";
inline constexpr char kQuotaExceeded[] = "QuotaExceeded";  // of the job's namespace
inline constexpr char kCreateFailed[] = "CreateFailed";    // the API server fails to create the workers
inline constexpr char kWorkerChanged[] =
    "WorkerChanged";  // an admission policy removes the lease's nodes from pods
inline constexpr char kNamespaceTerminating[] = "NamespaceTerminating";
inline constexpr char kInvalidNodeNamePattern[] = "InvalidNodeNamePattern";
inline constexpr char kInvalidNodeSelector[] = "InvalidNodeSelector";
inline constexpr char kSliceInExclusivePool[] = "SliceInExclusivePool";
inline constexpr char kNodesInOlderPool[] = "NodesInOlderPool";
inline constexpr char kNoMatchingNodes[] = "NoMatchingNodes";  // Ready=False of a pool
inline constexpr char kNoMatchingGpus[] = "NoMatchingGpus";    // Ready=False of a pool

// Progress of a job.
inline constexpr char kTakingNodes[] = "TakingNodes";
inline constexpr char kStartingWorkers[] = "StartingWorkers";
inline constexpr char kWorkersRunning[] = "WorkersRunning";
inline constexpr char kWaitingForLostNode[] = "WaitingForLostNode";  // nodeReplacement: Never
inline constexpr char kNodeTaken[] = "NodeTaken";  // a chosen node carries the lease of another job
inline constexpr char kWaitingForResult[] = "WaitingForResult";  // a worker has ended without a result
inline constexpr char kDeletedByForce[] = "DeletedByForce";      // a worker; no kubelet has reported its end

// How an attempt ended that had to make room; none of them is charged.
inline constexpr char kYielded[] = "Yielded";    // it was told to stop from outside, or made room for a job
inline constexpr char kDraining[] = "Draining";  // one of its nodes is drained (kDrain)
inline constexpr char kMoving[] = "Moving";      // somebody has asked for it (kRestart)

// How an attempt or a job ended.
inline constexpr char kCompleted[] = "Completed";
inline constexpr char kWorkerFailed[] = "WorkerFailed";
inline constexpr char kSliceExceeded[] =
    "SliceExceeded";  // a worker used more memory of a GPU than its slices have; also of one that runs on
inline constexpr char kBackoffLimitExceeded[] = "BackoffLimitExceeded";
inline constexpr char kDeadlineExceeded[] = "DeadlineExceeded";
inline constexpr char kStartTimeout[] = "StartTimeout";
inline constexpr char kWorkerLost[] = "WorkerLost";
inline constexpr char kNodeLost[] = "NodeLost";
inline constexpr char kNodeCordoned[] = "NodeCordoned";  // before all workers were scheduled
inline constexpr char kPlacementRefused[] =
    "PlacementRefused";  // a kubelet did not admit a worker: the slices were no longer free
inline constexpr char kDeleted[] = "Deleted";

// Why the source of a job could not be fetched. All but SourceUnavailable end the job: trying again cannot
// help. SourceUnavailable counts as a failed attempt.
inline constexpr char kSourceDenied[] = "SourceDenied";      // the server refuses the credentials
inline constexpr char kSourceNotFound[] = "SourceNotFound";  // no such object, commit or key
inline constexpr char kSourceMismatch[] = "SourceMismatch";  // other bytes than the spec says
inline constexpr char kSourceTooLarge[] = "SourceTooLarge";  // sizeLimit, or the disk is full
inline constexpr char kSourceInvalid[] = "SourceInvalid";    // an archive, a CSV file or an item is wrong
inline constexpr char kSourceUnavailable[] = "SourceUnavailable";  // no good answer until timeoutSeconds

// Of a sweep.
inline constexpr char kTrialsRunning[] = "TrialsRunning";
inline constexpr char kTargetReached[] = "TargetReached";
inline constexpr char kMaxFailedExceeded[] = "MaxFailedExceeded";
inline constexpr char kNoTrialSucceeded[] = "NoTrialSucceeded";
inline constexpr char kMetricMissing[] = "MetricMissing";  // of a trial: the objective has no value
inline constexpr char kTrialDeleted[] = "TrialDeleted";    // somebody deleted its job before its end

}  // namespace gpupool::api::reason

// Reasons of conditions that need no action. Every condition has a reason (metav1.Condition).
namespace gpupool::api::condition_reason {

inline constexpr char kNodesHeld[] = "NodesHeld";    // Leased=True
inline constexpr char kNoNodes[] = "NoNodes";        // Leased=False
inline constexpr char kNotStalled[] = "NotStalled";  // Stalled=False
inline constexpr char kNotComplete[] = "NotComplete";
inline constexpr char kNotFailed[] = "NotFailed";
inline constexpr char kNotSuspended[] = "NotSuspended";
inline constexpr char kNotRunning[] = "NotRunning";
inline constexpr char kMembersCounted[] = "MembersCounted";  // Ready=True of a pool
inline constexpr char kSettled[] = "Settled";                // Reconciling=False of a pool

}  // namespace gpupool::api::condition_reason

// Reasons of events that are no reason of a status.
namespace gpupool::api::event {

inline constexpr char kNodesReleased[] = "NodesReleased";
inline constexpr char kSlicesReleased[] = "SlicesReleased";
inline constexpr char kLostNodeResolved[] = "LostNodeResolved";  // all processes on a lost node have ended
inline constexpr char kLeaseMarksRestored[] = "LeaseMarksRestored";  // somebody had removed marks from a node
inline constexpr char kServiceRestored[] = "ServiceRestored";        // somebody had deleted a gang's Service
inline constexpr char kCheckpointed[] = "Checkpointed";              // the program reported a checkpoint
inline constexpr char kReportIgnored[] = "ReportIgnored";            // what it reported cannot be used
inline constexpr char kForeignPod[] = "ForeignPod";                  // on a node of an exclusive lease

inline constexpr char kTrialFailed[] = "TrialFailed";
inline constexpr char kBudgetWarning[] = "BudgetWarning";  // of an account: spec.warnAt is reached

}  // namespace gpupool::api::event
