"""Loads the weights train_fashion_mnist saved and computes the test accuracy with NumPy alone.

check_weights.py --weights FOLDER [--data FOLDER] [--expect 0.8912]    fails if they differ by more than 0.0001
"""
import argparse
import gzip
import pathlib
import sys

import numpy as np


def read_idx(folder, name):
    path = pathlib.Path(folder) / name
    data = path.read_bytes() if path.exists() else gzip.decompress(path.with_name(name + '.gz').read_bytes())
    axes = data[3]
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], 'big') for i in range(axes)]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * axes).reshape(shape)


def windows(x, k, pad):
    """(n, c, h, w) -> (n, h, w, c, k, k) for a stride of 1."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    view = np.lib.stride_tricks.sliding_window_view(x, (k, k), axis=(2, 3))
    return view.transpose(0, 2, 3, 1, 4, 5)


def conv(x, w, b):
    n, _, h, width = x.shape
    columns = windows(x, 5, 2).reshape(n * h * width, -1)
    return (columns @ w.reshape(w.shape[0], -1).T).reshape(n, h, width, -1).transpose(0, 3, 1, 2) + b


def pool(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))


def relu(x):
    return np.maximum(x, 0)


def scores(x, w):
    if 'conv1_w' in w:
        x = x.reshape(-1, 1, 28, 28)
        x = pool(relu(conv(x, w['conv1_w'], w['conv1_b'])))
        x = pool(relu(conv(x, w['conv2_w'], w['conv2_b'])))
        x = relu(x.reshape(len(x), -1) @ w['dense1_w'] + w['dense1_b'])
        return x @ w['dense2_w'] + w['dense2_b']
    for k in (1, 2):
        x = relu(x @ w[f'dense{k}_w'] + w[f'dense{k}_b'])
    return x @ w['dense3_w'] + w['dense3_b']


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--weights', required=True)
    parser.add_argument('--data', default='/usr/share/datasets/fashion-mnist')
    parser.add_argument('--expect', type=float)
    a = parser.parse_args()
    weights = {p.stem: np.load(p) for p in pathlib.Path(a.weights).glob('*.npy')}
    images = read_idx(a.data, 't10k-images-idx3-ubyte').reshape(-1, 784)
    labels = read_idx(a.data, 't10k-labels-idx1-ubyte')
    x = (images.astype(np.float32) / np.float32(255) - np.float32(0.2860)) / np.float32(0.3530)
    right = sum(int((scores(x[i:i + 500], weights).argmax(axis=1) == labels[i:i + 500]).sum()) for i in range(0, len(x), 500))
    accuracy = right / len(x)
    print(f'test accuracy {accuracy:.4f}')
    if a.expect is not None and abs(accuracy - a.expect) > 0.0001 + 1e-9:
        print(f'the program printed {a.expect:.4f}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
