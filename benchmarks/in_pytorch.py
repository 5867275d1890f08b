"""The work of speed.py in PyTorch, as one would write it there: heads batched, one backward pass a mini-batch.

In its favor: a pass goes back to the beginning of its mini-batch only, the text is random, no state is read back, and
only the heads in play are computed and changed.
"""

from __future__ import annotations

import time

import torch

from byline.settings.settings import Settings

BATCHES = 60  # mini-batches that are timed, spread over the sub-epochs of a schedule


def train_speed(settings: Settings, heads: int, symbols: int, repeats: int) -> float:
    """Characters a second over a schedule in which leakage decays, the best of `repeats`."""
    torch.set_num_threads(1)
    return max(_train_speed(settings, heads, symbols) for _ in range(repeats))


def _train_speed(settings: Settings, heads: int, symbols: int) -> float:
    torch.manual_seed(0)
    hidden = settings.hidden
    weights = [
        torch.randn(symbols, hidden) * 0.1,
        torch.randn(hidden, hidden) * 0.1,
        torch.zeros(hidden),
        torch.zeros(heads, hidden, symbols),
        torch.zeros(heads, symbols),
    ]
    sums = [torch.full_like(array, 100.0) for array in weights]
    text = torch.randint(0, symbols, (BATCHES * settings.batch + 1,))
    state = torch.zeros(hidden)
    seconds = 0.0
    for number in range(BATCHES + 3):
        begin = time.perf_counter()
        place = max(0, number - 3) * settings.batch
        chance = (
            settings.leakage * settings.leakage_decay ** (settings.sub_epochs * max(0, number - 3) // BATCHES) / heads
        )
        leaked = torch.nonzero(torch.rand(heads) < chance).flatten()
        playing = torch.unique(torch.cat([leaked, torch.tensor([number % heads])]))
        chosen = [
            *(array.requires_grad_() for array in weights[:3]),
            weights[3][playing].requires_grad_(),
            weights[4][playing].requires_grad_(),
        ]
        states = []
        inputs = chosen[0][text[place : place + settings.batch]] + chosen[2]
        inputs = inputs + settings.noise * torch.randn_like(inputs)
        for step in inputs:
            state = torch.sqrt(torch.relu(step + state @ chosen[1]) + 1) - 1
            states.append(state)
        logits = torch.stack(states) @ chosen[3] + chosen[4][:, None, :]  # (B, H) @ (K, H, V) -> (K, B, V)
        targets = text[place + 1 : place + settings.batch + 1].expand(len(playing), -1)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
        gradients = torch.autograd.grad(loss, chosen)
        state = state.detach()
        with torch.no_grad():
            for array, total, gradient in zip(weights[:3], sums[:3], gradients[:3], strict=True):
                total.addcmul_(gradient, gradient)
                array.addcdiv_(gradient, total.sqrt(), value=-settings.rate)
            for array, total, gradient in zip(weights[3:], sums[3:], gradients[3:], strict=True):
                new = total[playing].addcmul_(gradient, gradient)
                total[playing] = new
                array[playing] = array[playing].addcdiv_(gradient, new.sqrt(), value=-settings.rate)
        if number >= 3:  # the first ones warm up
            seconds += time.perf_counter() - begin
    return BATCHES * settings.batch / seconds


def score_speed(hidden: int, heads: int, symbols: int, repeats: int) -> float:
    """Characters a second under all heads, the best of `repeats` and one to warm up."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    table, recurrent = torch.randn(symbols, hidden) * 0.1, torch.randn(hidden, hidden) * 0.1
    outputs, bias = torch.randn(hidden, heads * symbols) * 0.1, torch.zeros(heads * symbols)
    length, block = 4_000, 250
    text = torch.randint(0, symbols, (length + 1,))
    seconds = float("inf")
    with torch.inference_mode():
        for _ in range(1 + repeats):
            begin = time.perf_counter()
            state, total = torch.zeros(hidden), torch.zeros(heads)
            for place in range(0, length, block):
                states = []
                for step in table[text[place : place + block]]:
                    state = torch.sqrt(torch.relu(step + state @ recurrent) + 1) - 1
                    states.append(state)
                logits = torch.addmm(bias, torch.stack(states), outputs).view(block, heads, symbols)
                targets = text[place + 1 : place + block + 1, None, None].expand(-1, heads, 1)
                total += (torch.logsumexp(logits, 2) - logits.gather(2, targets)[:, :, 0]).sum(0)
            seconds = min(seconds, time.perf_counter() - begin)
    return length / seconds
