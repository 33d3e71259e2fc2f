# SPDX-License-Identifier: Apache-2.0
"""Jobs on a node with slices that end when a file appears on the node."""

import os

from tests.e2e.slice_node import SliceNode
from tests.kit.operator_case import OperatorCase

FOLDER = "/var/gpupool-e2e"  # on the node
MOUNT = {"name": "gates", "mountPath": "/gates"}
VOLUME = {"name": "gates", "hostPath": {"path": FOLDER, "type": "DirectoryOrCreate"}}


class GateCase(OperatorCase):
    """`gate` is the file's path in containers with MOUNT. A test that does not open it leaves nothing behind."""

    def watch_node(self, name, slices):
        """Waits until the node, which is `self.node` from now on, offers so many slices."""
        self.node = SliceNode(self.lab, name)
        self.node.wait_allocatable(slices)
        file = f"{self.namespace}-{os.getpid()}"
        self.gate = f"{MOUNT['mountPath']}/{file}"
        self.gate_file = os.path.join(self.node.folder, FOLDER.strip("/"), file)
        self.addCleanup(self.close_gate)

    def open_gate(self):
        with open(self.gate_file, "w", encoding="ascii"):
            pass

    def close_gate(self):
        if os.path.exists(self.gate_file):
            os.unlink(self.gate_file)
