# SPDX-License-Identifier: Apache-2.0
"""The Pod Security Standard `restricted`, as Kubernetes documents it: what a pod breaks."""

ALLOWED_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}


def violations(spec):
    """Of a pod's spec, each as one line; empty for a pod that is allowed."""
    found = [f"{key} is true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    for volume in spec.get("volumes", []):
        kind = next(key for key in volume if key != "name")
        if kind not in ALLOWED_VOLUMES:
            found.append(f"volume {volume['name']} is a {kind}")
    pod = spec.get("securityContext", {})
    if pod.get("runAsUser") == 0:
        found.append("the pod runs as root")
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        found += [f"container {container['name']} {what}" for what in _of_container(container, pod)]
    return found


def _of_container(container, pod):
    own = container.get("securityContext", {})
    if own.get("privileged"):
        yield "is privileged"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "may gain privileges"
    if not own.get("runAsNonRoot", pod.get("runAsNonRoot")):
        yield "may run as root"
    if own.get("runAsUser") == 0:
        yield "runs as root"
    capabilities = own.get("capabilities", {})
    if "ALL" not in capabilities.get("drop", []):
        yield "keeps capabilities"
    if set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"}:
        yield "adds capabilities"
    if own.get("seccompProfile", pod.get("seccompProfile", {})).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "has no seccomp profile"
    if any(port.get("hostPort") for port in container.get("ports", [])):
        yield "takes a port of the node"
    if own.get("procMount", "Default") != "Default":
        yield "has another /proc"
