# SPDX-License-Identifier: Apache-2.0
"""The keeper of logs as part of the release: a job's output outlives the job, and what somebody tries from a pod."""

import json
import os
import subprocess
import tempfile
from typing import Any

from tests.install.site_under_test import Site
from tests.kit.certificate import make_certificate
from tests.kit.jobs import JobHandle
from tests.kit.manifests import job_manifest
from tests.kit.names import SYSTEM_NAMESPACE
from tests.kit.paths import cli_binary

HOST = f"gpupool-keeper.{SYSTEM_NAMESPACE}.svc"
VALUES = """
keeper:
  enabled: true
  image: {tag: dev}
  keysSecret: gpupool-keeper-keys
  tlsSecret: keeper
  storage: {size: ""}
"""
LINES = 5000
# From a pod, with the token of its service account: that of the namespace has no rights. It writes to one stream, because the
# order of two may differ in the pod's log (the shell tells of a wget that crashes, as BusyBox's may). Its end leaves the launcher time
# to send the last lines: it waits half a second for the keeper at most, and a busy machine may take longer.
ATTACK = """
exec 2>&1
TOKEN=$(cat /var/run/secrets/kubernetes.io/serviceaccount/token)
ask() { wget -q -O - --no-check-certificate "$@" 2>&1 | head -c 300; echo; }
ask https://%(host)s:7071/v1/namespaces/default/attempts
ask --header "X-Gpupool-Token: $TOKEN" https://%(host)s:7071/v1/namespaces/default/attempts
ask --header "X-Gpupool-Token: $TOKEN" --header 'X-Remote-User: admin' --header 'Impersonate-User: admin' https://%(host)s:7071/v1/namespaces/default/attempts
wget -q -T 5 -O - http://%(host)s:7071/ 2>&1 | head -c 100; echo
printf 'GET / HTTP/1.1\\r\\n\\r\\n' | timeout 10 nc %(host)s 7070 2>&1 | tr -dc 'a-z ' | head -c 200; echo
env | grep -c KEEPER_TOKEN
echo tried
sleep 1
"""


def check(site: Site) -> None:
    report = site.report
    before = site.values
    with tempfile.TemporaryDirectory() as folder:
        make_certificate(folder, HOST, f"DNS:{HOST}")
        with open(f"{folder}/k1", "wb") as key:
            key.write(os.urandom(32))
        system = ("-n", SYSTEM_NAMESPACE)
        site.kubectl(*system, "create", "secret", "tls", "keeper", f"--cert={folder}/tls.crt", f"--key={folder}/tls.key")
        site.kubectl(*system, "create", "secret", "generic", "gpupool-keeper-keys", f"--from-file={folder}/k1")
    site.values += VALUES
    site.helm("upgrade")
    report.eventually("the keeper becomes ready", lambda: site.ready("keeper", 1))
    (pod,) = site.pods("keeper")
    # There is no kube-proxy here, so its Service leads nowhere but by the API server.
    address = pod["status"]["podIP"]
    site.values = site.values.replace('storage: {size: ""}', f'storage: {{size: ""}}\n  address: {address}:7070')
    site.helm("upgrade")
    report.eventually("the operators that know it become ready", lambda: _operators_know(site, address))
    report.check("it runs on a node that is in no pool", pod["spec"]["nodeName"] in ("ne", "nf"), pod["spec"]["nodeName"])
    _output_outlives_the_job(site)
    _attack(site, address)
    site.values = before
    site.helm("upgrade")
    report.eventually("without the value nothing is left of it", lambda: (
        not site.pods("keeper") and not site.api.find("services", "gpupool-keeper", SYSTEM_NAMESPACE), ""))
    report.eventually("the operators have forgotten it", lambda: (
        "keeper" not in str([p["spec"] for p in site.pods("operator")]) and site.ready("operator", 2)[0], ""))
    site.kubectl("-n", SYSTEM_NAMESPACE, "delete", "secret", "keeper", "gpupool-keeper-keys")


def _operators_know(site: Site, address: str) -> tuple[bool, Any]:
    pods = site.pods("operator")
    known = [pod for pod in pods if f"--keeper-address={address}:7070" in str(pod["spec"])]
    return len(pods) == len(known) and site.ready("operator", 2)[0], [pod["metadata"]["name"] for pod in pods]


def _output_outlives_the_job(site: Site) -> None:
    """Of a gang, whose pods are deleted at its end, and of a job that is deleted."""
    report = site.report
    script = f"i=0; while [ $i -lt {LINES} ]; do echo \"rank $RANK line $i\"; i=$((i+1)); done; echo last words >&2"
    site.api.create("gpujobs", job_manifest("talker", "default", "shared", script, gpus=2, slice={"count": 1}, rendezvous="None"))
    job = JobHandle(site.api, "talker", "default")
    report.eventually("the gang ends", lambda: (job.status().get("phase") == "Succeeded" and not job.status().get("lease"), job.show()))
    uid = job.read()["metadata"]["uid"]
    report.eventually("its pods are gone", lambda: (
        not [p for p in site.api.list("pods", "default") if p["metadata"]["name"].startswith("talker-")], ""))
    _check_lines(site, "of a job whose pods are gone", "logs", "talker", "--all")
    job.delete()
    report.eventually("the job is gone", lambda: (not job.exists(), ""))
    _check_lines(site, "of a job that is gone", "logs", "talker", "--all", "--uid", uid)
    done = gpupool(site, "list", "--finished", "-o", "json")
    listed = [item for item in json.loads(done.stdout)["items"] if item["uid"] == uid]
    report.check("the finished job is listed", [(i["name"], i["ranks"], i["exitCode"], i["lostBytes"]) for i in listed] == [("talker", 2, 0, 0)],
                 done.stdout + done.stderr)
    done = gpupool(site, "logs", "never-was")
    report.check("a job that never was is told so", done.returncode == 1 and "has nothing of it" in done.stderr, done.stderr)


def _check_lines(site: Site, what: str, *arguments: str) -> None:
    done = gpupool(site, *arguments)
    lines = done.stdout.splitlines()
    for rank in range(2):
        own = [line.partition(" | ")[2] for line in lines if line.startswith(f"{rank} | ")]
        expected = [f"rank {rank} line {i}" for i in range(LINES)] + ["last words"]
        site.report.check(f"every line of rank {rank} is there, {what}", sorted(own) == sorted(expected) and own[:100] == expected[:100],
                          f"{len(own)} lines\n{done.stderr[-2000:]}")


def gpupool(site: Site, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([cli_binary(), "--kubeconfig", site.cluster.kubeconfig, "-n", "default", *arguments], capture_output=True, text=True,
                          timeout=300, check=False)


def _attack(site: Site, address: str) -> None:
    site.api.create("gpujobs", job_manifest("attacker", "default", "shared", ATTACK % {"host": address}, slice={"count": 1}))
    job = JobHandle(site.api, "attacker", "default")
    site.report.eventually("the attacker's job ends", lambda: (job.status().get("phase") == "Succeeded", job.show()))
    told = job.status().get("message", "")
    site.report.eventually("pod and keeper have the same log", lambda: _same_log(site, "attacker"))
    site.report.check("from a pod, too, nobody reads without the right to",
                      told.count("401") == 1 and told.count("403") == 2 and "attempts" not in told and "message is too long" in told
                      and told.rstrip().endswith("0\ntried"), told)
    job.delete()


def _same_log(site: Site, job: str) -> tuple[bool, Any]:
    pods, stored = gpupool(site, "logs", job), gpupool(site, "logs", job, "--stored")
    same = pods.stdout == stored.stdout and "tried\n" in stored.stdout and stored.returncode == 0
    return same, f"the pod's:\n{pods.stdout}\nthe keeper's:\n{stored.stdout}\n{stored.stderr}"
