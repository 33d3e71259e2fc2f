# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of a program that gpupool may interrupt (docs/checkpoints.md). Put this file beside your program.

    saves = Checkpoints()               # in the main thread, as early as you like
    found = saves.latest()              # in a gang on all ranks after init_process_group, as all that follows
    step = load(found[1]) if found else 0
    while step < STEPS:
        train(step)
        step += 1
        stop = saves.should_stop()
        if stop or step % 100 == 0 or step == STEPS:
            saves.save(step, write)     # write(path) makes a file, or a directory with files
        if stop:
            break                       # and end with code 0: after the notice this means "go on later"

Needs Python 3.8 and nothing else. Ranks agree through torch.distributed if the program uses it; else pass `agree`.
Outside gpupool should_stop() is False and report() does nothing; pass `directory` to save there too.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import sys
import threading
import time

VISIBLE_SECONDS = 120  # until what another node has written is seen on a network file system


class Checkpoints:
    """directory: where they are, if not in GPUPOOL_CHECKPOINT_DIR; of this job alone. agree(n): the greatest n that any
    rank gave, on all ranks. rank: if it is not in RANK."""

    def __init__(self, directory=None, agree=None, rank=None):
        env = os.environ.get
        self.directory = directory or env("GPUPOOL_CHECKPOINT_DIR")
        self.resume = env("GPUPOOL_RESUME") == "1"  # an attempt of this job ran before
        self.grace_seconds = int(env("GPUPOOL_GRACE_SECONDS") or 0)
        self._rank = int(env("RANK") or 0) if rank is None else rank
        self._agree = agree or _torch_agree
        self._notice, self._report = env("GPUPOOL_NOTICE_FILE"), env("GPUPOOL_REPORT_FILE")
        self._process, self._told, self._stop, self._saved = os.getpid(), False, False, None
        # With `notice: Signal` SIGTERM comes right after the notice, and would end Python before it could save.
        if self._notice and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._on_sigterm)

    def should_stop(self):
        """Whether the job has to make room: save and end with code 0. All ranks get the same answer if all ask equally
        often, so they stop at the same step. Costs one stat and, in a gang, one all-reduce of a number."""
        if self._notice and not self._stop:
            self._stop = bool(self._agree(int(self._told or os.path.exists(self._notice))))
        return self._stop

    def latest(self):
        """(step, path) of the newest whole checkpoint, the same on all ranks; None if there is none."""
        step = self._agree(max(self._steps(), default=-1)) if self.directory else -1
        end = time.monotonic() + VISIBLE_SECONDS
        while step >= 0 and step not in self._steps() and time.monotonic() < end:
            time.sleep(0.5)
        return (step, self._path(step)) if step >= 0 else None

    def save(self, step, write, every_rank=False, keep=2):
        """Calls write(path) on rank 0, or on every rank with the same path, and reports the checkpoint. It is in the
        directory whole or not at all, whenever the program or its node dies. The newest `keep` stay. All ranks must
        call it. If it fails on one rank, it raises on all, and the checkpoints before are still there."""
        if not self.directory:
            return
        if step != self._saved:
            # A process of an earlier attempt may still run on a lost node: it must not write to the same file.
            part = os.path.join(self.directory, f"part-{os.environ.get('GPUPOOL_ATTEMPT', 0)}-{step}")
            self._together(part, every_rank or self._rank == 0, lambda: self._write(part, write))
            self._together(part, self._rank == 0, lambda: self._publish(part, step, keep))
            self._saved = step
        self.report(step, os.path.basename(self._path(step)))

    def report(self, step, path=""):
        """Tells gpupool that this step is saved for good. Every rank tells it, so it is known if one node is lost."""
        if not self._report:
            return
        known = path if len(json.dumps(path)) <= 258 else ""  # gpupool reads no longer ones
        part = f"{self._report}.{os.getpid()}"
        try:
            with open(part, "w", encoding="ascii") as file:
                json.dump({"step": int(step), "path": known}, file)
            os.replace(part, self._report)
        except OSError as error:
            print(f"step {step} is saved, and cannot be reported: {error}", file=sys.stderr, flush=True)

    def _on_sigterm(self, number, _):
        if os.getpid() == self._process:
            self._told = True
        else:  # a process that was forked off, such as a loader of data: it ends as it would without this handler
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def _path(self, step):
        return os.path.join(self.directory, f"step-{step}")

    def _steps(self):
        names = os.listdir(self.directory) if os.path.isdir(self.directory) else []
        return sorted(int(name[5:]) for name in names if re.fullmatch(r"step-[0-9]+", name))

    def _together(self, part, mine, act):
        """Calls act() if it is this rank's part. Raises on all ranks if it raises on one."""
        failure = None
        try:
            if mine:
                act()
        except Exception as error:  # pylint: disable=broad-except
            failure = error
        if self._agree(int(failure is not None)):
            _remove(part)  # the disk may be full
            raise failure or RuntimeError("another rank could not save the checkpoint")

    def _write(self, part, write):
        os.makedirs(self.directory, exist_ok=True)
        write(part)
        _flush(part)

    def _publish(self, part, step, keep):
        path = self._path(step)
        if os.path.isdir(path):  # no directory can take the place of another
            os.replace(path, part + "-old")
        os.replace(part, path)
        _flush(self.directory, deep=False)
        old = [self._path(other) for other in self._steps() if other < step]
        torn = [os.path.join(self.directory, name) for name in os.listdir(self.directory) if name.startswith("part-")]
        for name in old[:max(0, len(old) + 1 - keep)] + torn:
            _remove(name)


def _flush(path, deep=True):
    """To the disk: a file, or a directory with all that is in it."""
    for name in os.listdir(path) if deep and os.path.isdir(path) else []:
        _flush(os.path.join(path, name))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not os.path.isdir(path):  # some file systems cannot do it for directories
            raise
    finally:
        os.close(descriptor)


def _remove(path):
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.unlink(path)


def _torch_agree(number):
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        if int(os.environ.get("WORLD_SIZE") or 1) > 1:
            raise RuntimeError("several ranks and no process group of torch.distributed: pass agree= to Checkpoints")
        return number
    tensor = torch.tensor([number], device="cuda" if torch.distributed.get_backend() == "nccl" else "cpu")
    torch.distributed.all_reduce(tensor, op=torch.distributed.ReduceOp.MAX)
    return int(tensor.item())
