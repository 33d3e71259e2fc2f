# SPDX-License-Identifier: Apache-2.0
"""etcd, API server, controller manager and scheduler of one cluster, in its hub."""

import json
import secrets
from typing import Any

from tests.cluster.harness import kubeconfig, processes
from tests.cluster.harness.api import Api
from tests.cluster.harness.errors import ClusterError
from tests.cluster.harness.network import Addresses
from tests.cluster.harness.state import State

AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
                "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}


def _gates(minor: int) -> Any:
    # Off by default until 1.21.
    return ["--feature-gates=TTLAfterFinished=true"] if minor < 21 else []


def write_tokens(state: State) -> tuple[dict[str, str], str]:
    tokens = {"admin": secrets.token_hex(16), "viewer": secrets.token_hex(16)}
    path = state.write("tokens.csv", f'{tokens["admin"]},admin,admin,"system:masters"\n'
                                     f'{tokens["viewer"]},viewer,viewer\n')
    return tokens, path


def _start(state: State, init: int, part: str, *command: str) -> None:
    """What it was started with is kept, so that servers.py can start it again."""
    state.remember(commands={**state.facts().get("commands", {}), part: command})
    processes.start_inside(init, state.path("log", part), *command)


def start_etcd(state: State, init: int, program: str, quota_mib: int | None) -> None:
    quota = [f"--quota-backend-bytes={quota_mib << 20}"] if quota_mib else []
    _start(state, init, "etcd", program, "--data-dir", state.path("etcd"), "--unsafe-no-fsync",
           "--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
           "--listen-peer-urls", "http://127.0.0.1:2380", *quota)


def start_apiserver(state: State, init: int, program: str, addresses: Addresses, minor: int, tokens_path: str,
                    audit: bool) -> None:
    pki = state.path("pki")
    audit_flags = []
    if audit:
        policy = state.write("audit-policy.json", json.dumps(AUDIT_POLICY))
        audit_flags = [f"--audit-policy-file={policy}", f"--audit-log-path={state.path('audit.log')}",
                       "--audit-log-maxsize=100000"]  # readers want one file
    _start(
        state, init, "apiserver", program,
        "--etcd-servers=http://127.0.0.1:2379", "--secure-port=443", "--bind-address=0.0.0.0",
        f"--advertise-address={addresses.hub}", f"--service-cluster-ip-range={addresses.services}",
        f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
        f"--client-ca-file={pki}/ca.crt", f"--token-auth-file={tokens_path}",
        f"--kubelet-client-certificate={pki}/admin.crt", f"--kubelet-client-key={pki}/admin.key",
        "--kubelet-preferred-address-types=InternalIP",
        "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki}/service-account.key",
        f"--service-account-signing-key-file={pki}/service-account.key",
        "--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000", *audit_flags, *_gates(minor))


def wait_ready(state: State, api: Api) -> None:
    def ready() -> bool:
        if not processes.find_init(processes.cluster_title(state.name)):
            raise ClusterError(f"cluster {state.name} was removed while it started")
        return api.is_ready()
    try:
        processes.wait_for("the API server", ready, 90)
    except ClusterError as error:
        raise ClusterError(f"{error}\n{processes.log_tail(state.path('log', 'apiserver'))}") from None


def start_controller_manager(state: State, init: int, program: str, minor: int, grace_seconds: int) -> None:
    pki = state.path("pki")
    _start(
        state, init, "controller-manager", program,
        f"--kubeconfig={state.path('kubeconfig-certificate')}", "--leader-elect=false", "--bind-address=127.0.0.1",
        f"--cert-dir={pki}/controller-manager", f"--root-ca-file={pki}/ca.crt",
        f"--service-account-private-key-file={pki}/service-account.key", "--use-service-account-credentials=true",
        f"--node-monitor-grace-period={grace_seconds}s", "--node-monitor-period=1s",
        "--concurrent-statefulset-syncs=10", "--kube-api-qps=200", "--kube-api-burst=400", *_gates(minor))


def start_scheduler(state: State, init: int, program: str) -> None:
    config = state.path("kubeconfig-certificate")
    _start(
        state, init, "scheduler", program, f"--kubeconfig={config}", "--leader-elect=false",
        "--bind-address=127.0.0.1", f"--cert-dir={state.path('pki')}/scheduler",
        f"--authentication-kubeconfig={config}", f"--authorization-kubeconfig={config}")


def write_kubeconfigs(state: State, addresses: Addresses, tokens: dict[str, str]) -> str:
    server = f"https://{addresses.hub}:443"
    kubeconfig.write_all(state, server, tokens)
    return server
