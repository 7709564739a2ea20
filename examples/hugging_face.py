"""A causal language model of Hugging Face: inputs by name, padded lines, a loss and a perplexity over tokens.

`pip install transformers`, then `scalewise train examples/hugging_face.py:Manual --workers 2`. Nothing is downloaded:
the text is the manual that comes with every Python, and the network is made from its configuration.
"""

import math
from pydoc_data.topics import topics
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel

import scalewise as sw

LENGTH, PADDING = 48, -100


class Manual(sw.Workload):
    """Lines of Python's manual, letter by letter."""

    defaults = {
        "recipe": {"global_batch": 32, "optimizer": "adamw", "learning_rate": 0.01, "clip_norm": 1.0},
        "stop": {"target": "val/perplexity<18", "steps": 400},
        "evaluate": {"every_steps": 20},
    }
    measures = (sw.Metric("perplexity", of_mean=math.exp), sw.Metric("token_error"))

    def data(self) -> dict[str, tuple[dict[str, Tensor], Tensor]]:
        """Return the lines as numbers of letters, short ones padded; the targets are the same letters."""
        lines = [
            line.strip().encode("ascii", "replace")[:LENGTH] for text in topics.values() for line in text.split("\n")
        ]
        lines = [line for line in lines if len(line) > 1][:3000]
        ids = torch.tensor([list(line.ljust(LENGTH, b"\0")) for line in lines])
        inputs = {"input_ids": ids, "attention_mask": (ids > 0).long()}
        targets = ids.masked_fill(ids == 0, PADDING)
        val = torch.arange(len(ids)) % 10 == 0  # every tenth line
        parts = {"train": ~val, "val": val}
        return {
            name: ({key: rows[part] for key, rows in inputs.items()}, targets[part]) for name, part in parts.items()
        }

    def model(self) -> nn.Module:
        """Make a small GPT-2, whose last layer shares its weights with the first."""
        return GPT2LMHeadModel(
            GPT2Config(
                vocab_size=128,
                n_positions=LENGTH,
                n_embd=32,
                n_layer=2,
                n_head=2,
                bos_token_id=0,
                eos_token_id=0,
                use_cache=False,
            )
        )

    def loss(self, outputs: Any, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return for each line the sum over its letters, and how many there are: the mean is over letters."""
        scores, following = outputs.logits[:, :-1].transpose(1, 2), targets[:, 1:]
        losses = F.cross_entropy(scores, following, reduction="none", ignore_index=PADDING)
        return losses.sum(dim=1), (following != PADDING).sum(dim=1)

    def metrics(self, outputs: Any, targets: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        """Return the perplexity per letter, and the share of letters that are guessed wrong."""
        sums, letters = self.loss(outputs, targets)
        following = targets[:, 1:]
        wrong = (outputs.logits[:, :-1].argmax(dim=2) != following) & (following != PADDING)
        return {"perplexity": (sums, letters), "token_error": (wrong.sum(dim=1), letters)}
