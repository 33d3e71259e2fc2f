"""A cluster for the time of one run of the tests."""

import json
import os
import subprocess
import sys

from .operator_process import ROOT
from .waiting import wait_for

PROGRAM = os.path.join(ROOT, "tests", "cluster", "cluster")


class Cluster:
    """As a context manager it is up inside and gone after, also when this process is killed."""

    def __init__(self, name, *flags):
        self.name = name
        self._flags = flags
        self.kubeconfig = None
        self.keep = bool(os.environ.get("KEEP"))

    def _run(self, *arguments, capture=False):
        done = subprocess.run([PROGRAM, *arguments], check=False, text=True,
                              stdout=subprocess.PIPE if capture else None)
        if done.returncode != 0:
            raise RuntimeError(f"cluster {' '.join(arguments)} failed")
        return done.stdout

    def __enter__(self):
        owner = [] if self.keep else ["--owner-pid", str(os.getpid())]
        self._run("up", self.name, *owner, *self._flags, capture=True)
        self._learn()
        return self

    def use_running(self):
        """For development: a cluster that somebody else started, and that is left running."""
        self.keep = True
        self._learn()
        return self

    def _learn(self):
        self.kubeconfig = self._run("kubeconfig", self.name, capture=True).strip()
        for line in self._run("env", self.name, capture=True).splitlines():
            name, _, value = line.removeprefix("export ").partition("=")
            if name == "KUBECTL":
                os.environ["KUBECTL"] = value.strip("'")

    def __exit__(self, *_):
        if self.keep:
            print(f"cluster {self.name} is kept; end it with tests/cluster/cluster down {self.name}", file=sys.stderr)
        else:
            self._run("down", self.name)

    def load(self, archive):
        self._run("load", self.name, archive)

    def verb(self, *arguments):
        self._run(arguments[0], self.name, *arguments[1:])

    def folder(self):
        return os.path.dirname(self.kubeconfig)


def kubectl(kubeconfig, *arguments, text=None):
    """What kubectl prints; it must succeed."""
    done = subprocess.run([os.environ.get("KUBECTL") or "kubectl", "--kubeconfig", kubeconfig, *arguments], input=text,
                          capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"kubectl {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout


def apply_definitions(kubeconfig):
    folder = os.path.join(ROOT, "crds", "")  # kubectl follows a link only with the slash at its end
    kubectl(kubeconfig, "apply", "--validate=false", "-f", folder)
    wait_for("the definitions to be established", lambda: _established(kubeconfig))


def _established(kubeconfig):
    try:
        return kubectl(kubeconfig, "wait", "--for=condition=Established", "--timeout=30s", "crd/gpupools.gpupool.dev",
                       "crd/gpujobs.gpupool.dev", "crd/gpunodes.gpupool.dev")
    except AssertionError as error:
        if "conditions accessor error" in str(error):  # kubectl 1.20 does not wait for the first condition
            return False
        raise


def apply_objects(kubeconfig, objects):
    kubectl(kubeconfig, "apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
