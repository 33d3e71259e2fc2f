# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel training that goes on from its last checkpoint, wherever it was interrupted.

Everything that a step does follows from the seed, the number of the step and the state in the checkpoint, so the weights
at the end are the same, bit by bit, whether it was interrupted or not.
"""
import gc
import hashlib
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from gpupool_checkpoint import Checkpoints

SEED, BATCH = 7, 64
STEPS = int(os.environ.get("STEPS", "400"))
SAVE_EVERY = int(os.environ.get("SAVE_EVERY", "50"))
PAUSE = float(os.environ.get("STEP_SECONDS", "0.05"))  # in place of the work of a larger model


def batch(step, rank):
    """The samples of this rank at this step: no state of a loader has to be kept."""
    generator = torch.Generator().manual_seed((SEED * 1_000_003 + step) * 1_009 + rank)
    x = torch.rand(BATCH, 2, generator=generator) * 2 - 1
    return x, torch.sin(3 * x[:, :1]) * torch.cos(2 * x[:, 1:])


def digest(model):
    sha = hashlib.sha256()
    for parameter in model.parameters():
        sha.update(parameter.detach().numpy().tobytes())
    return sha.hexdigest()


def train(saves, rank):
    torch.manual_seed(SEED)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    step, found = 0, saves.latest()
    if found:
        state = torch.load(found[1], map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = found[0]
    print(f"rank {rank} begins at step {step}", flush=True)
    parallel = DistributedDataParallel(model)

    def write(path):
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)

    while step < STEPS:
        x, y = batch(step, rank)
        loss = nn.functional.mse_loss(parallel(x), y)
        optimizer.zero_grad()
        loss.backward()  # averages the gradients over all ranks
        optimizer.step()
        time.sleep(PAUSE)
        step += 1
        stop = saves.should_stop()
        if stop or step % SAVE_EVERY == 0 or step == STEPS:
            saves.save(step, write)
            print(f"rank {rank} step {step} loss {loss.item():.6f} saved", flush=True)
        if stop:
            break
    if step == STEPS:
        print(f"rank {rank} final weights SHA256={digest(model)}", flush=True)
    else:
        print(f"rank {rank} makes room after step {step}", flush=True)


def main():
    torch.set_num_threads(1)
    saves = Checkpoints()
    dist.init_process_group("gloo")  # RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT come from gpupool
    train(saves, dist.get_rank())
    gc.collect()  # the model must be gone before its process group: otherwise PyTorch 1.13 can hang when it ends
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
