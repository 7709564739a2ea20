"""Networks of timm, trained as they are. Run one with `scalewise train examples/timm_networks.py:TestEfficientNet`."""

import timm
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn

import scalewise as sw


class TestEfficientNet(sw.Classification):
    """A small EfficientNet, whose batch normalisation holds its activation, on digits in three colours."""

    defaults = {
        "recipe": {"global_batch": 64, "microbatch": 32, "learning_rate": 0.05},
        "stop": {"target": "val/classification_error<0.2", "epochs": 10},
    }

    def data(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Make the images as large as these networks need them."""
        digits = load_digits()
        small = torch.tensor(digits.images / 16, dtype=torch.float32).unsqueeze(1).expand(-1, 3, -1, -1)
        images, labels = F.interpolate(small, size=32), torch.tensor(digits.target)
        return {"train": (images[:1400], labels[:1400]), "val": (images[1400:], labels[1400:])}

    def model(self) -> nn.Module:
        """Make the network; its weights load into the same call anywhere else."""
        network: nn.Module = timm.create_model("test_efficientnet", num_classes=10)
        return network


class TestResNet(TestEfficientNet):
    """A small residual network."""

    def model(self) -> nn.Module:
        """Make the network."""
        network: nn.Module = timm.create_model("test_resnet", num_classes=10)
        return network


class TestVit(TestEfficientNet):
    """A small vision transformer."""

    defaults = {
        "recipe": {"global_batch": 64, "microbatch": 32, "optimizer": "adamw", "learning_rate": 0.001},
        "stop": {"target": "val/classification_error<0.2", "epochs": 10},
    }

    def model(self) -> nn.Module:
        """Make the network."""
        network: nn.Module = timm.create_model("test_vit", num_classes=10, img_size=32)
        return network
