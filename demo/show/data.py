# SPDX-License-Identifier: Apache-2.0
"""`make demo PART=data`: a script and a CSV file from a bucket, cleaned, trained on by three workers, the model back in it."""

import os

from demo.show import bucket, demo_cluster
from demo.show.follow import follow, has_succeeded
from demo.show.kubectl import Kubectl
from tests.kit.paths import BUILD_IMAGE, EXAMPLES
from tests.kit.commands import output_of

EXAMPLE, JOB, FILES = "train-from-bucket", "train-from-bucket", ("train.py", "houses.csv")
TIMEOUT = 240


def prepare(_: Kubectl) -> None:
    demo_cluster.load(output_of(BUILD_IMAGE, "carry").strip())


def run(kubectl: Kubectl) -> list[str]:
    """Prints how it goes; returns what did not come as promised."""
    with bucket.serve("gpupool-example", kubectl.server_url()) as here:
        for name in FILES:
            here.put(os.path.join(EXAMPLES, EXAMPLE, name), name)
        print(f"S3 server {here.endpoint}, bucket {here.name}: {', '.join(FILES)}")
        _apply(kubectl, here)
        status = follow(kubectl, JOB, has_succeeded, TIMEOUT)
        print(kubectl.run("gpupool", "logs", "-n", "default", JOB, "--tail", "20").rstrip())
        print(f"\n{'item':12} {'bytes':>8}  what came of it")
        for item in status["source"]["items"]:
            print(f"{item['path']:12} {item['bytes']:8}  {item.get('message') or item['digest'][:19]}")
        keys = here.keys("models")
        print(f"\nfetched in {status['source']['seconds']} s; results: {status.get('results', {}).get('state')}, "
              f"bucket {here.name}: {', '.join(keys)}")
        report = f"models/{JOB}/report.json"
        if report not in keys:
            return [f"{report} is not in the bucket"]
        print(f"{report}: {here.get(report)}")
        return [] if status["results"]["state"] == "Complete" else ["the results are not complete"]


def _apply(kubectl: Kubectl, here: bucket.Bucket) -> None:
    with open(os.path.join(EXAMPLES, EXAMPLE + ".yaml"), encoding="utf-8") as file:
        text = file.read()
    for name, value in (("https://s3.example.com", here.endpoint), ("your-key", here.key), ("your-secret", here.secret)):
        text = text.replace(name, value)
    kubectl.apply_text(text)
