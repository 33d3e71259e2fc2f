import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLUSTER = os.path.join(ROOT, "tests", "cluster", "cluster")
BUILD_IMAGE = os.path.join(ROOT, "tests", "images", "build")
CRDS = os.path.join(ROOT, "crds", "")  # kubectl follows a link only with the slash at its end
EXAMPLES = os.path.join(ROOT, "examples")


def program(name):
    return os.path.join(os.path.abspath(os.environ.get("BUILD_DIR") or os.path.join(ROOT, "build")), "bin", name)
