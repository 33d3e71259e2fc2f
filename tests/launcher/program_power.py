# SPDX-License-Identifier: Apache-2.0
"""What is left after the power went: a copy of the disk behind the state directory, at a chosen moment."""
import json
import os
import shutil
import subprocess

from tests.launcher.launcher_case import LauncherCase

MIB = 1 << 20


class PowerLoss(LauncherCase):
    """The state lives on a disk of its own that writes back nothing unless it is told to."""

    def setUp(self):
        super().setUp()
        self.require_root()
        self.disk = self.dir / "disk"
        with open(self.disk, "wb") as disk:
            disk.truncate(16 * MIB)
        subprocess.run(["/sbin/mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.disk], check=True)
        # The journal is not written of its own accord for as long as a test takes.
        self.mount(self.disk, self.state, "commit=300")

    def mount(self, disk, folder, options):
        subprocess.run(["mount", "-o", f"loop,{options}", disk, folder], check=True)
        self.addCleanup(subprocess.run, ["umount", folder], check=True)

    def after_power_loss(self, disk):
        """The state directory as the next start finds it."""
        folder = self.dir / f"{disk.name}.found"
        folder.mkdir()
        self.mount(disk, folder, "rw")  # so that the journal is replayed
        return folder

    def found(self):
        """Files of which the disk knows now, with what they hold."""
        copy = self.dir / f"copy{len(list(self.dir.glob('copy*.found')))}"
        shutil.copy(self.disk, copy)
        return {path.name: path.read_text() for path in self.after_power_loss(copy).iterdir() if path.is_file()}

    def start_after_power_loss(self, disk):
        self.state = self.after_power_loss(disk)
        self.log.write_text("")
        return self.run_launcher("touch", str(self.dir / "ran again"))

    def test_a_file_that_nobody_synced_is_lost(self):
        """Else the other tests would see nothing."""
        (self.state / "file").write_text("text")
        self.assertEqual(self.found(), {})
        descriptor = os.open(self.state / "file", os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        self.assertEqual(self.found(), {"file": "text"})

    def test_while_the_command_runs(self):
        """From its first moment on the mark is there: the command copies the disk."""
        copy = self.dir / "early"
        self.assertEqual(self.run_launcher("cp", str(self.disk), str(copy)).returncode, 0)
        self.assertEqual(self.start_after_power_loss(copy).returncode, 1)
        self.assert_result(outcome="interrupted")
        self.assertFalse((self.dir / "ran again").exists())

    def test_when_the_launcher_has_ended(self):
        self.assertEqual(self.run_launcher("sh", "-c", "echo output; exit 9").returncode, 9)
        found = self.found()
        self.assertLessEqual({"mark", "result.json"}, set(found))
        self.assertEqual(json.loads(found["result.json"])["tail"], "output")

    def test_a_result_without_a_start_is_kept_too(self):
        waiting = ["--nnodes=2", "--rank=1", "--master-addr=127.0.0.1", "--master-port=1", "--master-timeout=1"]
        self.assertEqual(self.run_launcher("true", flags=waiting).returncode, 124)
        found = self.found()
        self.assertNotIn("mark", found)
        self.assertEqual(json.loads(found["result.json"])["reason"], "MasterTimeout")

    def test_result_that_reached_the_disk_in_part(self):
        self.assertEqual(self.run_launcher("true").returncode, 0)
        whole = (self.state / "result.json").read_bytes()
        for part in (whole[:-1], whole[:100], whole[:90] + bytes(40) + whole[130:], bytes(len(whole)), b""):
            (self.state / "result.json").write_bytes(part)
            self.log.write_text("")
            self.assertEqual(self.run_launcher("true").returncode, 1)
            self.assert_result(outcome="interrupted")
