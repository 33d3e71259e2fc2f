# SPDX-License-Identifier: Apache-2.0
"""A held result comes again: the launcher ends by itself after growing pauses."""
import os
import signal
import socket
import time

from tests.launcher.launcher_case import HANG_LIMIT, LauncherCase

LEAST = 1
CLOCK_STEP = 0.05  # by so much a file's time may be behind
HOLD = ["--hold", f"--hold-seconds={LEAST}"]
LONG_HOLD = ["--hold", "--hold-seconds=600"]


class Hold(LauncherCase):
    def age_result(self, seconds):
        stored = time.time() - seconds
        os.utime(self.state / "result.json", (stored, stored))

    def held(self, code, flags=()):
        """Seconds that a start with --hold takes; its result must stand in the fresh termination log."""
        stored = (self.state / "result.json").read_bytes()
        self.log.write_text("")
        began = time.monotonic()
        done = self.run_launcher("sh", "-c", "exit 99", flags=[*HOLD, *flags])
        self.assertEqual(done.returncode, code)
        if stored:
            self.assertEqual(self.log.read_bytes(), stored)
        self.assert_result(exitCode=code)
        return time.monotonic() - began

    def test_ends_by_itself_and_each_pause_is_longer(self):
        for code in (0, 17):
            self.setUp()
            self.assertEqual(self.run_launcher("sh", "-c", f"exit {code}", flags=HOLD).returncode, code)
            stored = time.time()
            self.assertGreaterEqual(self.held(code), LEAST - CLOCK_STEP)
            passed = time.time() - stored
            self.assertGreaterEqual(self.held(code), passed - CLOCK_STEP)
            passed = time.time() - stored
            self.assertGreaterEqual(passed, 2 * LEAST - CLOCK_STEP)
            self.assertGreaterEqual(self.held(code), passed - CLOCK_STEP)

    def test_pause_is_counted_from_the_result(self):
        self.run_launcher("true")
        self.age_result(3)
        self.assertGreaterEqual(self.held(0), 3 - CLOCK_STEP)

    def test_result_from_the_future(self):
        self.run_launcher("true")
        self.age_result(-100_000)
        self.assertGreaterEqual(self.held(0), LEAST - CLOCK_STEP)

    def test_after_an_interruption(self):
        process = self.start("sh", "-c", "echo $$; exec sleep 1000")
        self.kill_and_wait_for(process, int(process.stdout.readline()))
        self.age_result(-100)  # of the file that was reserved for it
        self.assertGreaterEqual(self.held(1), LEAST - CLOCK_STEP)
        self.assert_result(outcome="interrupted")
        self.age_result(2)
        self.assertGreaterEqual(self.held(1), 2 - CLOCK_STEP)
        self.assert_result(outcome="interrupted")

    def test_stand_in_for_rank_0(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        gang = ["--nnodes=2", "--rank=0", "--master-addr=127.0.0.1", f"--master-port={port}"]
        self.run_launcher("true", flags=gang)
        for age in (0, 2):  # the second time it takes the port again
            self.age_result(age)
            self.log.write_text("")
            began = time.monotonic()
            holding = self.start("true", flags=[*gang, *HOLD])
            self.assertIn(b"not run again", holding.stderr.readline())
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), HANG_LIMIT).close()
                    break
                except ConnectionRefusedError:
                    self.assertIsNone(holding.poll())
            self.assertEqual(holding.wait(HANG_LIMIT), 0)
            self.assertGreaterEqual(time.monotonic() - began, max(age, LEAST) - CLOCK_STEP)
            self.assert_result(exitCode=0)

    def test_port_of_rank_0_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            gang = ["--nnodes=2", "--rank=0", "--master-addr=127.0.0.1", f"--master-port={server.getsockname()[1]}"]
            self.run_launcher("true", flags=gang)
            self.assertGreaterEqual(self.held(0, gang), LEAST - CLOCK_STEP)

    def test_stop_signals_end_it_at_once(self):
        self.run_launcher("sh", "-c", "exit 5")
        for number in (signal.SIGTERM, signal.SIGINT):
            self.log.write_text("")
            holding = self.start("true", flags=LONG_HOLD)
            self.assertIn(b"not run again", holding.stderr.readline())
            holding.send_signal(number)
            self.assertEqual(holding.wait(HANG_LIMIT), 5)
            self.assert_result(exitCode=5, stopSignal=None)

    def test_other_signals_do_not_end_it(self):
        self.run_launcher("true")
        began = time.monotonic()
        holding = self.start("true", flags=HOLD)
        self.assertIn(b"not run again", holding.stderr.readline())
        holding.send_signal(signal.SIGUSR1)
        self.assertEqual(holding.wait(HANG_LIMIT), 0)
        self.assertGreaterEqual(time.monotonic() - began, LEAST - CLOCK_STEP)
