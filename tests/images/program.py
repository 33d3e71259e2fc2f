"""An image of one of our programs: the binary and the shared libraries that it needs, nothing else."""

import re
import subprocess

from archive import Layer


def libraries(binary):
    """{path in the image: path here}, the dynamic loader included."""
    shown = subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout
    if "not found" in shown:
        raise RuntimeError(f"{binary} needs libraries that are not installed:\n{shown}")
    return {path.lstrip("/"): path for path in re.findall(r"(/\S+) \(0x", shown)}


def program_image(name, binary):
    layer = Layer()
    layer.add_file(name, binary)
    for inside, path in libraries(binary).items():
        layer.add_file(inside, path)
    return layer, {"Entrypoint": ["/" + name]}
