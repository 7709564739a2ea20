"""Every built-in workload: a line for each data set and network that go together, and a line for each family.

A new data set is a file in `data/images/` and its lines here; a new network a file in `models/` and its lines here.
"""

from scalewise.data.images.cifar_10 import CIFAR_10
from scalewise.data.images.digits import DIGITS
from scalewise.data.images.mnist import FASHION_MNIST, MNIST, MNIST_6875, MNIST_13750, MNIST_27500, MNIST_55000
from scalewise.models.fully_connected import FULLY_CONNECTED
from scalewise.models.plain_cnn import PLAIN_CNN, PLAIN_CNN_BN
from scalewise.models.resnet import RESNET_8
from scalewise.models.simple_cnn import SIMPLE_CNN
from scalewise.workloads.family import Family
from scalewise.workloads.images import Default, Images, Pair
from scalewise.workloads.packages import Packages

# The targets of mnist and fashion_mnist are the published ones of the batch-science studies, where there is one.
# Plain momentum bears about three times the rate that Nesterov's does, and clipping bears what plain momentum does not:
# a network without normalisation needs both where the rate grows with the batch.
IMAGES = Images(
    (
        # Of a default: the error to get below, the global batch, the learning rate, epochs, other keys of the recipe.
        Pair(DIGITS, FULLY_CONNECTED, Default(0.05, 64, 0.1, 60)),
        Pair(DIGITS, SIMPLE_CNN, Default(0.03, 64, 0.02, 60)),
        Pair(MNIST, FULLY_CONNECTED, Default(0.03, 128, 0.05, 20)),
        Pair(MNIST, SIMPLE_CNN, Default(0.01, 128, 0.02, 15)),
        Pair(FASHION_MNIST, FULLY_CONNECTED, Default(0.12, 128, 0.05, 30)),
        Pair(FASHION_MNIST, SIMPLE_CNN, Default(0.1, 128, 0.02, 20)),
        Pair(CIFAR_10, RESNET_8, Default(0.3, 128, 0.1, 20)),
        Pair(CIFAR_10, PLAIN_CNN, Default(0.35, 128, 0.02, 20, {"optimizer": "momentum", "clip_norm": 2.0})),
        Pair(CIFAR_10, PLAIN_CNN_BN, Default(0.35, 128, 0.05, 20, {"optimizer": "momentum"})),
        Pair(MNIST_6875, FULLY_CONNECTED, Default(0.06, 128, 0.05, 60)),
        Pair(MNIST_6875, SIMPLE_CNN, Default(0.025, 128, 0.02, 60)),
        Pair(MNIST_13750, FULLY_CONNECTED, Default(0.05, 128, 0.05, 40)),
        Pair(MNIST_13750, SIMPLE_CNN, Default(0.02, 128, 0.02, 40)),
        Pair(MNIST_27500, FULLY_CONNECTED, Default(0.04, 128, 0.05, 30)),
        Pair(MNIST_27500, SIMPLE_CNN, Default(0.015, 128, 0.02, 30)),
        Pair(MNIST_55000, FULLY_CONNECTED, Default(0.03, 128, 0.05, 20)),
        Pair(MNIST_55000, SIMPLE_CNN, Default(0.01, 128, 0.02, 15)),
    )
)

FAMILIES: tuple[Family, ...] = (
    IMAGES,
    Packages(),  # the last: a name that is built in stays what it is
)
