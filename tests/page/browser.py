# SPDX-License-Identifier: Apache-2.0
"""A real Chromium without a window, driven through the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/)
over two pipes: it ends with the process that holds them."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAM = "chromium-headless-shell"
ANSWERS_WITHIN = 120  # seconds


class PageError(Exception):
    """A script of a test failed, or what it waits for did not come."""


class Page:
    """One tab, of a browser context of its own."""

    def __init__(self, browser: "Browser", session: str) -> None:
        self._browser, self._session = browser, session
        self.events: list[dict[str, Any]] = []  # all that the browser has told of this tab
        browser.listen(session, self.events)
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **params)

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


def _pipe() -> tuple[int, int]:
    """A pipe whose descriptors are none of the first ten: whatever else the process has open, 3 and 4 are free for the browser's."""
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low]
    for end in low:
        os.close(end)
    return high[0], high[1]


class Browser:
    """Starts with `with`, and ends with it. Not thread-safe."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self._number, self._received = 0, b""
        self._events: dict[str, list[dict[str, Any]]] = {}

    def listen(self, session: str, events: list[dict[str, Any]]) -> None:
        self._events[session] = events

    def __enter__(self) -> "Browser":
        program = shutil.which(PROGRAM)
        if not program:
            raise PageError(f"{PROGRAM} is not installed: deps/install")
        self._folder = tempfile.mkdtemp(prefix="gpupool-browser-")
        theirs_in, self._to = _pipe()
        self._from, theirs_out = _pipe()
        # The protocol is spoken on descriptors 3 and 4. Not by sh: that of Debian redirects no number above 9.
        script = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, program, "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--no-first-run", "--no-proxy-server", f"--user-data-dir={self._folder}", *self._options, "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self._folder}, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._to)  # tells it to end
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._from)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """The answer of the browser, or of the tab of a session."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data):]
        end = time.monotonic() + ANSWERS_WITHIN
        while True:
            answer = self._receive(end)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("sessionId") in self._events:
                self._events[answer["sessionId"]].append(answer)

    def _receive(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._received:
            if not select.select([self._from], [], [], max(0.0, end - time.monotonic()))[0]:
                raise PageError("the browser does not answer")
            part = os.read(self._from, 1 << 20)
            if not part:
                raise PageError(f"{PROGRAM} has ended")
            self._received += part
        text, self._received = self._received.split(b"\0", 1)
        return json.loads(text)

    def new_page(self) -> Page:
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        return Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
