"""Logistic regression on powers of x and y, by gradient descent. Fifty lines, no library."""

import math
import random


def make_points(count: int, seed: str) -> list[tuple]:
    """(x, y, label): label 1 within a circle, 0 in the ring around it."""
    numbers = random.Random(seed)
    points = []
    for index in range(count):
        label = index % 2
        radius = numbers.uniform(0.0, 0.55) if label else numbers.uniform(0.65, 1.0)
        angle = numbers.uniform(0.0, 2 * math.pi)
        points.append((radius * math.cos(angle), radius * math.sin(angle), label))
    return points


def features(x: float, y: float, degree: int) -> list[float]:
    """1, x, y, x², xy, y², … up to the degree."""
    return [x**i * y**j for i in range(degree + 1) for j in range(degree + 1 - i)]


def probability(weights: list[float], inputs: list[float]) -> float:
    return 1 / (1 + math.exp(-sum(weight * value for weight, value in zip(weights, inputs))))


def fit(points: list[tuple], *, degree: int, rate: float, epochs: int) -> list[float]:
    samples = [(features(x, y, degree), label) for x, y, label in points]
    weights = [0.0] * len(samples[0][0])
    shuffle = random.Random("shuffle").shuffle
    for _ in range(epochs):
        shuffle(samples)
        for inputs, label in samples:
            error = label - probability(weights, inputs)
            weights = [weight + rate * error * value for weight, value in zip(weights, inputs)]
    return weights


def accuracy(points: list[tuple], weights: list[float], degree: int) -> float:
    right = sum((probability(weights, features(x, y, degree)) > 0.5) == (label == 1) for x, y, label in points)
    return right / len(points)


def picture(weights: list[float], degree: int, size: int = 16) -> list[str]:
    ticks = [index / size * 2 - 1 for index in range(size + 1)]
    shades = " ░▒▓█"
    # Twice as wide as high, since letters are twice as high as wide.
    return ["".join(shades[int(probability(weights, features(x, y, degree)) * 4.99)] * 2 for x in ticks) for y in ticks]
