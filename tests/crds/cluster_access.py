# SPDX-License-Identifier: Apache-2.0
"""The cluster under test, and the objects that tests change."""

import copy
import functools
import json
import os
import unittest

from tests.crds.kubectl_proxy import KubectlProxy
from tests.kit import kubectl as kubectls
from tests.kit.kubectl import given_kubeconfig
from tests.kit.paths import CRDS, kubectl_program

FILES = {"gpunodes": os.path.join(CRDS, "gpupool.dev_gpunodes.yaml"),
         "gpupools": os.path.join(CRDS, "gpupool.dev_gpupools.yaml"),
         "gpujobs": os.path.join(CRDS, "gpupool.dev_gpujobs.yaml"),
         **{name: os.path.join(CRDS, f"gpupool.dev_{name}.yaml") for name in ("gpuaccounts", "gpubillrecords", "gpuledgers")},
         "gpusweeps": os.path.join(CRDS, "gpupool.dev_gpusweeps.yaml")}
NAMESPACE = "gpupool-crd-test"
POOL_NAME = "gpupool-crd-test"
CEL_SINCE = 25  # x-kubernetes-validations are checked from Kubernetes 1.25 on

JOB = {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuJob",
       "metadata": {"name": "job", "namespace": NAMESPACE},
       "spec": {"pool": POOL_NAME,
                "template": {"spec": {"containers": [{"name": "w", "image": "i:1", "command": ["true"]}]}}}}
POOL = {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuPool",
        "metadata": {"name": POOL_NAME},
        "spec": {"nodeSelector": {"matchLabels": {"pool": "lab"}}}}
SWEEP = {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuSweep",
         "metadata": {"name": "sweep", "namespace": NAMESPACE},
         "spec": {"parameters": [{"name": "lr", "values": ["0.1", "0.2"]}],
                  "job": {"pool": POOL_NAME,
                          "template": {"spec": {"containers": [{"name": "w", "image": "i:1", "command": ["$(lr)"]}]}}}}}
NODE_NAME = "gpupool-crd-test"
NODE = {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuNode", "metadata": {"name": NODE_NAME}}


def kubectl_command():
    return [kubectl_program(), "--kubeconfig", given_kubeconfig()]


def kubectl(*arguments):
    """What kubectl prints; it must succeed."""
    return kubectls.kubectl(given_kubeconfig(), "--request-timeout=60s", *arguments)


@functools.cache
def server_minor():
    version = json.loads(kubectl("version", "-o", "json"))["serverVersion"]
    return int("".join(c for c in version["minor"] if c.isdigit()))


def apply_crds():
    """Returns what kubectl said about each."""
    # kubectl takes the CEL keyword for an unknown field where the server does not know it.
    flags = [] if server_minor() >= CEL_SINCE else ["--validate=false"]
    output = kubectl("apply", *flags, "-f", CRDS)
    kubectl("wait", "--for=condition=Established", "--timeout=30s",
            *["crd/" + name + ".gpupool.dev" for name in FILES])
    return output


def changed(base, changes):
    """A copy of an object with values set by path: {"spec.gpus": 2}; None removes a field."""
    result = copy.deepcopy(base)
    for path, value in changes.items():
        *parents, last = path.split(".")
        at = result
        for name in parents:
            at = at.setdefault(name, {})
        if value is None:
            at.pop(last, None)
        else:
            at[last] = value
    return result


def remove_leftovers():
    kubectl("delete", "--ignore-not-found", "gpupools.gpupool.dev", POOL_NAME)
    kubectl("delete", "--ignore-not-found", "gpunodes.gpupool.dev", NODE_NAME)
    kubectl("delete", "--ignore-not-found", "--timeout=60s", "namespace", NAMESPACE)


class CrdTest(unittest.TestCase):
    """Installs the definitions, and gives each class a namespace of its own and a way to the API server."""

    @classmethod
    def setUpClass(cls):
        apply_crds()
        remove_leftovers()
        kubectl("create", "namespace", NAMESPACE)
        cls.addClassCleanup(remove_leftovers)
        cls.api = KubectlProxy(kubectl_command())
        cls.addClassCleanup(cls.api.close)

    def accepted(self, objekt, dry_run=True):
        """The object as the server takes it."""
        code, body = self.api.create(objekt, dry_run)
        self.assertEqual(201, code, body.get("message"))
        return body

    def assert_refused(self, answer, text):
        code, body = answer
        self.assertEqual(422, code, "was not refused as invalid: " + str(body.get("message")))
        self.assertIn(text, body["message"])
