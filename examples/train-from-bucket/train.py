# SPDX-License-Identifier: Apache-2.0
"""Fits the price of a house to its area, rooms and age. Every rank takes each WORLD_SIZE-th row."""
import csv
import gc
import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WORK = os.environ.get("GPUPOOL_WORK_DIR", ".")
EPOCHS = 200
FEATURES = ("area", "rooms", "age")


def rows():
    with open(os.path.join(WORK, "houses.csv"), newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    x = torch.tensor([[float(row[name]) for name in FEATURES] for row in table])
    y = torch.tensor([[float(row["price"])] for row in table])
    return (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()


def train(rank, world):
    x, y = rows()
    x, y = x[rank::world], y[rank::world]
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(len(FEATURES), 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(EPOCHS):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and epoch % 50 == 49:
            print(f"epoch={epoch + 1} loss={loss.item():.4f}", flush=True)
    return model.module, loss.item()


def save(model, loss):
    out = os.path.join(WORK, "out")
    os.makedirs(out, exist_ok=True)
    torch.save(model.state_dict(), os.path.join(out, "model.pt"))
    with open(os.path.join(out, "report.json"), "w", encoding="utf-8") as file:
        json.dump({"loss": loss, "weights": dict(zip(FEATURES, model.weight[0].tolist()))}, file)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model, loss = train(rank, dist.get_world_size())
    if rank == 0:
        save(model, loss)
    del model
    gc.collect()
    dist.destroy_process_group()


main()
