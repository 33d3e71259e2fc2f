#pragma once

// Typed reasons: status.reason, conditions and events. docs/operations.md says what to do about each.
namespace gpupool::api::reason {

// Why a job waits.
inline constexpr char kWaitingForNodes[] = "WaitingForNodes";
inline constexpr char kPoolNotFound[] = "PoolNotFound";
inline constexpr char kPoolStopping[] = "PoolStopping";
inline constexpr char kPoolStalled[] = "PoolStalled";
inline constexpr char kNoSuchNode[] = "NoSuchNode";
inline constexpr char kTooLarge[] = "TooLarge";
inline constexpr char kNoMatchingModel[] = "NoMatchingModel";
inline constexpr char kSuspended[] = "Suspended";

// Why a job or a pool is stalled until a person acts.
inline constexpr char kInvalidSpec[] = "InvalidSpec";
inline constexpr char kInvalidTemplate[] = "InvalidTemplate";
inline constexpr char kNameConflict[] = "NameConflict";
inline constexpr char kSpecChanged[] = "SpecChanged";
inline constexpr char kForbidden[] = "Forbidden";
inline constexpr char kCreateFailed[] = "CreateFailed";  // the API server fails to create the workers
inline constexpr char kWorkerChanged[] =
    "WorkerChanged";  // an admission policy takes the lease's nodes off pods
inline constexpr char kNamespaceTerminating[] = "NamespaceTerminating";
inline constexpr char kInvalidNodeNamePattern[] = "InvalidNodeNamePattern";
inline constexpr char kInvalidNodeSelector[] = "InvalidNodeSelector";
inline constexpr char kSliceInExclusivePool[] = "SliceInExclusivePool";
inline constexpr char kNodesInOlderPool[] = "NodesInOlderPool";

// How far a job is.
inline constexpr char kTakingNodes[] = "TakingNodes";
inline constexpr char kStartingWorkers[] = "StartingWorkers";
inline constexpr char kWorkersRunning[] = "WorkersRunning";
inline constexpr char kWaitingForLostNode[] = "WaitingForLostNode";  // nodeReplacement: Never
inline constexpr char kNodeTaken[] = "NodeTaken";                // somebody else holds a node this job chose
inline constexpr char kWaitingForResult[] = "WaitingForResult";  // a worker has ended, nobody saw how
inline constexpr char kDeletedByForce[] = "DeletedByForce";      // and no kubelet has said that it is over

// How an attempt or a job ended.
inline constexpr char kCompleted[] = "Completed";
inline constexpr char kWorkerFailed[] = "WorkerFailed";
inline constexpr char kBackoffLimitExceeded[] = "BackoffLimitExceeded";
inline constexpr char kDeadlineExceeded[] = "DeadlineExceeded";
inline constexpr char kStartTimeout[] = "StartTimeout";
inline constexpr char kWorkerLost[] = "WorkerLost";
inline constexpr char kNodeLost[] = "NodeLost";
inline constexpr char kNodeCordoned[] = "NodeCordoned";  // before all workers had a place
inline constexpr char kPlacementRefused[] =
    "PlacementRefused";  // a kubelet would not have a worker: slices were gone that reports still showed
inline constexpr char kDeleted[] = "Deleted";

}  // namespace gpupool::api::reason
