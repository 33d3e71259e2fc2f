# SPDX-License-Identifier: Apache-2.0
"""Plain HTTP to the API server through `kubectl proxy`: a request takes milliseconds, a kubectl takes a second."""

import json
import subprocess
import urllib.error
import urllib.request

KIND_PATHS = {"GpuPool": "/apis/gpupool.dev/v1alpha1/gpupools",
              "GpuNode": "/apis/gpupool.dev/v1alpha1/gpunodes",
              "GpuJob": "/apis/gpupool.dev/v1alpha1/namespaces/{}/gpujobs",
              "GpuSweep": "/apis/gpupool.dev/v1alpha1/namespaces/{}/gpusweeps"}
MERGE_PATCH = "application/merge-patch+json"


class KubectlProxy:
    """Ends with close(). Each call returns (HTTP status, decoded body)."""

    def __init__(self, kubectl_command):
        self._process = subprocess.Popen(kubectl_command + ["proxy", "--port=0"], stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline()  # Starting to serve on 127.0.0.1:PORT
        if ":" not in line:
            self.close()
            raise RuntimeError("kubectl proxy did not start")
        self._address = "http://127.0.0.1:" + line.strip().rsplit(":", 1)[1]

    def close(self):
        self._process.terminate()
        self._process.wait(timeout=20)
        self._process.stdout.close()

    def create(self, objekt, dry_run=True):
        """With dry_run the server checks and defaults the object, and stores nothing."""
        path = KIND_PATHS[objekt["kind"]].format(objekt["metadata"].get("namespace"))
        return self._call("POST", path + ("?dryRun=All" if dry_run else ""), objekt, "application/json")

    def patch(self, objekt, change, subresource=""):
        path = KIND_PATHS[objekt["kind"]].format(objekt["metadata"].get("namespace"))
        return self._call("PATCH", f"{path}/{objekt['metadata']['name']}{subresource}", change, MERGE_PATCH)

    def _call(self, method, path, body, content_type):
        request = urllib.request.Request(self._address + path, method=method, data=json.dumps(body).encode(),
                                         headers={"Content-Type": content_type})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())
