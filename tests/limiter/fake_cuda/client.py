#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A program that calls the driver as it is told: a line of standard input is [FUNCTION, ARGUMENT...] in JSON, and the answer
is a line [RESULT, OUTPUT...].

An argument is a number, a text, null, {"out": BYTES} for a pointer to a number that the function writes, {"bytes": HEX} for one
to memory that it may read and write, or {"value": HEX} for a CUipcMemHandle itself. FUNCTION `open` opens a file.
"""

import ctypes
import json
import os
import sys
from typing import Any


class IpcHandle(ctypes.Structure):
    _fields_ = [("content", ctypes.c_char * 64)]


def convert(argument: Any) -> tuple[Any, Any]:
    """What to pass, and what is to be answered from: None for nothing."""
    if isinstance(argument, int):
        return ctypes.c_uint64(argument), None
    if isinstance(argument, str):
        return argument.encode(), None
    if argument is None:
        return None, None
    if "out" in argument:
        # Not zero, so that one sees what is left alone.
        buffer = ctypes.create_string_buffer(b"\xee" * argument["out"], argument["out"])
        return buffer, buffer
    content = bytes.fromhex(argument.get("bytes") or argument["value"])
    if "bytes" in argument:
        buffer = ctypes.create_string_buffer(content, len(content))
        return buffer, buffer
    return IpcHandle.from_buffer_copy(content), None


def main() -> None:
    library = ctypes.CDLL("libcuda.so.1")
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        if name == "open":
            answer = [os.open(arguments[0], os.O_RDWR)]
        else:
            converted = [convert(argument) for argument in arguments]
            answer = [getattr(library, name)(*(value for value, _ in converted))]
            for argument, (_, buffer) in zip(arguments, converted):
                if buffer is not None:
                    raw = buffer.raw
                    answer.append(int.from_bytes(raw, "little") if "out" in argument else raw.hex())
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
