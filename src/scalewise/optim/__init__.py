"""What moves the weights: one vector of them, their gradients, optimizers, averages, precision, batch normalisation."""
