"""The goals of the public studies, for archives that name none: a facts table."""

PUBLISHED_GOALS = (
    ("mnist", "simple_cnn", "val/classification_error<0.01"),
    ("mnist", "fc_", "val/classification_error<0.03"),
    ("fashion_mnist", "simple_cnn", "val/classification_error<0.1"),
    ("cifar_10", "resnet_8", "val/classification_error<0.3"),
    ("imagenet", "resnet_50", "val/classification_error<0.25"),
    ("imagenet", "vgg_11", "val/classification_error<0.35"),
    ("open_images_v4", "resnet_50", "val/average_precision>0.31"),
    ("lm1b", "", "val/cross_entropy_error<3.9"),
    ("common_crawl", "", "val/cross_entropy_error<3.9"),
)
"""Data set, how the model's name begins, target on the validation examples."""


def published_goal(dataset: str, model: str) -> str | None:
    """Return the goal that was published for a workload.

    >>> published_goal("mnist", "fc_1024"), published_goal("mnist", "lstm")
    ('val/classification_error<0.03', None)
    """
    goals = (goal for name, start, goal in PUBLISHED_GOALS if name == dataset and model.startswith(start))
    return next(goals, None)
