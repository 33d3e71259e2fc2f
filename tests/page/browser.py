# SPDX-License-Identifier: Apache-2.0
"""A real Chromium without a window, driven through the DevTools protocol
(https://chromedevtools.github.io/devtools-protocol/)."""

import base64
import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import websocket

PROGRAM = "chromium-headless-shell"
ANSWERS_WITHIN = 120  # seconds


class PageError(Exception):
    """A script of a test failed, or what it waits for did not come."""


class Connection:
    """To the browser, or to one tab. Not thread-safe."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=ANSWERS_WITHIN, suppress_origin=True)
        self._number = 0
        self.events: list[dict[str, Any]] = []  # all that the browser has told

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                if "error" in message:
                    raise PageError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def close(self) -> None:
        self._socket.close()


class Page(Connection):
    """One tab."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of an expression; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(f"{details.get('exception', {}).get('description', details['text'])}\nin {script}")
        return answer["result"].get("value")

    def text(self, selector: str = "body") -> str:
        return self.run(f"(document.querySelector({json.dumps(selector)}) || {{innerText: ''}}).innerText")

    def wait(self, condition: str, seconds: float = 60) -> None:
        """Until a script is true. Fails with what the page shows."""
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise PageError(f"not within {seconds} s: {condition}\nthe page shows:\n{self.text()}\n{self.complaints()}")
            time.sleep(0.05)

    def wait_text(self, text: str, selector: str = "body", seconds: float = 60) -> None:
        self.wait(f"(document.querySelector({json.dumps(selector)})?.innerText || '').includes({json.dumps(text)})", seconds)

    def press(self, key: str, modifiers: int = 0) -> None:
        """A key of the keyboard, by its name. modifiers: 8 is Shift."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowDown": 40, "End": 35, "PageUp": 33, "Home": 36}
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        common = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": codes.get(key, ord(key.upper()[0])),
                  "code": key if len(key) > 1 else ""}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def size(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, path: Path) -> None:
        image = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(image["data"]))

    def requests(self) -> list[dict[str, Any]]:
        """All requests so far, with address and headers."""
        self.run("1")  # receives what waits
        return [e["params"]["request"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """What the browser has logged of errors, broken rules of the page (CSP) and exceptions."""
        found = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
            elif event["method"] == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                found.append(str(details.get("exception", {}).get("description", details["text"])))
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] == "error":
                found.append(str([a.get("value") for a in params["args"]]))
        return found

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.call("Page.close")
        super().close()


class Browser:
    """Starts with `with`, and ends with it. A context (new_page) shares nothing with another."""

    def __init__(self, *options: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="gpupool-browser-")
        self._options = options

    def __enter__(self) -> "Browser":
        program = shutil.which(PROGRAM)
        if not program:
            raise PageError(f"{PROGRAM} is not installed: deps/install")
        self._process = subprocess.Popen(
            [program, "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={self._folder}",
             "--disable-background-networking", "--no-first-run", *self._options, "about:blank"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert self._process.stderr
        told = ""
        for line in self._process.stderr:
            told += line
            found = re.search(r"DevTools listening on (ws://\S+)", line)
            if found:
                self._control = Connection(found.group(1))
                self._base = found.group(1).split("/devtools/")[0]
                # Its further words would fill the pipe.
                threading.Thread(target=self._process.stderr.read, daemon=True).start()
                return self
        raise PageError(f"{PROGRAM} did not start:\n{told}")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def new_page(self) -> Page:
        context = self._control.call("Target.createBrowserContext")["browserContextId"]
        target = self._control.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        return Page(f"{self._base}/devtools/page/{target}")
