"""The rows of scripts/cpu-bench in PyTorch, eager."""
# SPDX-License-Identifier: MIT
import numpy as np
import torch
import torch.nn.functional as F

from worker import K, M, of, serve

SQUARE, ODD = (4096, 4096), (4093, 4099)
f16, f64, i32, i64, u8 = np.float16, np.float64, np.int32, np.int64, np.uint8
torch.set_grad_enabled(False)


def chain(a, b, c, d):
    torch.tanh(a, out=d).mul_(b)
    t = torch.square(c).neg_()
    d += t.exp_()
    d += torch.abs(a, out=t).sqrt_()
    return d


def conv_backward(x, w, dy, dx_too):
    return torch.ops.aten.convolution_backward(dy, x, w, [0], [1, 1], [2, 2], [1, 1], False, [0, 0], 1,
                                               [dx_too, True, False])[0 if dx_too else 1]


def pool_backward(x, dy, at):
    return torch.ops.aten.max_pool2d_with_indices_backward(dy, x, [2, 2], [2, 2], [0, 0], [1, 1], False, at)


def pool_indices(seed):
    return F.max_pool2d(torch.from_numpy(of(128, 32, 28, 28)(0)), 2, return_indices=True)[1]


def layer(seed, layer):
    """Deterministic weights, as ours.cpp has them: a dense layer's as (in, out) there."""
    w = layer.weight
    shape = w.shape if w.ndim == 4 else w.shape[::-1]
    value = torch.from_numpy((of(*shape)(seed) - 0.5) * 2 / np.sqrt(np.float32(w[0].numel())))
    w.copy_(value if w.ndim == 4 else value.T)
    layer.bias.zero_()
    return layer


def trainer(*layers):
    """A maker of a step of training, which returns the first layer's gradient times the learning rate."""
    def make(_):
        net = torch.nn.Sequential(*[f() for f in layers])
        sgd = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, fused=True)

        def step(x, truth):
            sgd.zero_grad()
            with torch.enable_grad():
                F.cross_entropy(net(x), truth).backward()
            sgd.step()
            g = net[0].weight.grad
            return -0.02 * (g if g.ndim == 4 else g.T)
        return step
    return make


def dense(seed, n, m):
    return lambda: layer(seed, torch.nn.Linear(n, m))


def conv(seed, n, m):
    return lambda: layer(seed, torch.nn.Conv2d(n, m, 5, padding=2))


def pool():
    return torch.nn.MaxPool2d(2)


def labels(_):
    return torch.arange(128) % 10


relu = torch.nn.ReLU
lenet = trainer(conv(0, 1, 32), relu, pool, conv(2, 32, 64), relu, pool, torch.nn.Flatten, dense(4, 3136, 512), relu,
                dense(6, 512, 10))
mlp = trainer(dense(0, 784, 512), relu, dense(2, 512, 256), relu, dense(4, 256, 10))

ROWS = {
    'triad 16M into': (lambda a, b, c, d: torch.addcmul(a, b, c, out=d), *[of(16 * M)] * 4),
    'triad 16M new': (torch.addcmul, *[of(16 * M)] * 3),
    'triad 1K into': (lambda a, b, c, d: torch.addcmul(a, b, c, out=d), *[of(K)] * 4),
    'triad 1K new': (torch.addcmul, *[of(K)] * 3),
    'triad double 8M': (lambda a, b, c, d: torch.addcmul(a, b, c, out=d), *[of(8 * M, dtype=f64)] * 4),
    'triad int32 16M': (lambda a, b, c, d: torch.addcmul(a, b, c, out=d), *[of(16 * M, dtype=i32)] * 4),
    'chain 4M': (chain, *[of(4 * M)] * 4),
    'sin 4M': (lambda a, d: torch.sin(a, out=d), *[of(4 * M)] * 2),
    'exp double 4M': (lambda a, d: torch.exp(a, out=d), *[of(4 * M, dtype=f64)] * 2),
    'a % b 4M': (lambda a, b, d: torch.remainder(a, b, out=d), *[of(4 * M)] * 3),
    'a + row 4096^2': (torch.add, of(*SQUARE), of(4096)),
    'a + column 4096^2': (torch.add, of(*SQUARE), of(4096, 1)),
    'a + row 4093x4099': (torch.add, of(*ODD), of(4099)),
    'a + b 5 axes': (torch.add, of(32, 17, 8, 33, 29), of(32, 1, 8, 1, 29)),
    'a + b uint8 64M': (lambda a, b, d: torch.add(a, b, out=d), *[of(64 * M, dtype=u8)] * 3),
    'a + b float16 16M': (lambda a, b, d: torch.add(a, b, out=d), *[of(16 * M, dtype=f16)] * 3),
    'a + b.T 4096^2': (lambda a, b, d: torch.add(a, b.T, out=d), *[of(*SQUARE)] * 3),
    'a + b.T 4093x4099': (lambda a, b, d: torch.add(a, b.T, out=d), of(*ODD), of(4099, 4093), of(*ODD)),
    'where 16M': (lambda m, a, b, d: torch.where(m, a, b, out=d), of(16 * M, dtype=bool), *[of(16 * M)] * 3),
    'a < b 16M': (lambda a, b, d: torch.lt(a, b, out=d), *[of(16 * M)] * 2, of(16 * M, dtype=bool)),
    'float to int32 16M': (lambda a, d: d.copy_(a), of(16 * M, scale=100), of(16 * M, dtype=i32)),
    'uint8 to float 16M': (lambda a, d: d.copy_(a), of(16 * M, dtype=u8), of(16 * M)),
    'float16 to float 16M': (lambda a, d: d.copy_(a), of(16 * M, dtype=f16), of(16 * M)),
    'float to float16 16M': (lambda a, d: d.copy_(a), of(16 * M), of(16 * M, dtype=f16)),
    'a[::2, ::-1] 4096^2': (lambda a, d: torch.flip(a[::2], (1,)), of(*SQUARE), of(2048, 4096)),
    'transpose copy 4096^2': (lambda a, d: d.copy_(a.T), of(*SQUARE), of(*SQUARE)),
    'sum 16M': (lambda a: a.sum().item(), of(16 * M)),
    'sum 1K': (lambda a: a.sum().item(), of(K)),
    'sum int32 16M': (lambda a: a.sum().item(), of(16 * M, dtype=i32)),
    'sum uint8 64M': (lambda a: a.sum().item(), of(64 * M, dtype=u8)),
    'max uint8 64M': (lambda a: a.max().item(), of(64 * M, dtype=u8)),
    'sum((a-b)^2) 16M': (lambda a, b: F.mse_loss(a, b, reduction='sum').item(), *[of(16 * M)] * 2),
    'sum axis 1 4096^2': (lambda a: a.sum(1), of(*SQUARE)),
    'sum axis 0 4096^2': (lambda a: a.sum(0), of(*SQUARE)),
    'sum axis 1 64x512x256': (lambda a: a.sum(1), of(64, 512, 256)),
    'sum axis 1 1Mx16': (lambda a: a.sum(1), of(M, 16)),
    'sum axis 0 1Mx16': (lambda a: a.sum(0), of(M, 16)),
    'sum axis 0 double 4093x2049': (lambda a: a.sum(0), of(4093, 2049, dtype=f64)),
    'max axis 1 4096^2': (lambda a: a.amax(1), of(*SQUARE)),
    'argmax axis 1 4096^2': (lambda a: a.argmax(1), of(*SQUARE)),
    'mean and var axis 1 4096^2': (lambda a: torch.var_mean(a, 1, correction=0)[0], of(*SQUARE)),
    'var axis 0 4096^2': (lambda a: a.var(0, correction=0), of(*SQUARE)),
    'softmax 4096x1024': (lambda a: torch.softmax(a, 1), of(4096, 1024)),
    'log_softmax 4096x1024': (lambda a: torch.log_softmax(a, 1), of(4096, 1024)),
    'logsumexp 4096x1024': (lambda a: torch.logsumexp(a, 1), of(4096, 1024)),
    'cumsum 16M': (lambda a: a.cumsum(0), of(16 * M)),
    'sort 4M': (lambda a: a.sort()[0], of(4 * M)),
    'argsort 1M': (lambda a: a.argsort(), of(M)),
    'topk 100 of 16M': (lambda a: a.topk(100)[0], of(16 * M)),
    'topk 8 of 128Kx64': (lambda a: a.topk(8)[0], of(128 * K, 64)),
    'a[mask] 16M': (torch.masked_select, of(16 * M), of(16 * M, dtype=bool)),
    'take 100K rows of 1Mx32': (lambda a, i: a.index_select(0, i), of(M, 32), of(100000, dtype=i64, scale=1e6)),
    'uniform 16M': (lambda d: d.uniform_(), of(16 * M)),
    'normal 16M': (lambda d: d.normal_(), of(16 * M)),
    'sgemm 1024': (lambda a, b, d: torch.mm(a, b, out=d), *[of(1024, 1024)] * 3),
    'sgemm 64': (lambda a, b, d: torch.mm(a, b, out=d), *[of(64, 64)] * 3),
    'sgemm 64 of 64': (lambda a, b, d: torch.bmm(a, b, out=d), *[of(64, 64, 64)] * 3),
    'conv 32-64 forward': (lambda x, w: F.conv2d(x, w, padding=2), of(32, 32, 14, 14), of(64, 32, 5, 5)),
    'conv 32-64 backward': (lambda x, w, dy: conv_backward(x, w, dy, True), of(32, 32, 14, 14), of(64, 32, 5, 5),
                            of(32, 64, 14, 14)),
    'conv 1-32 forward': (lambda x, w: F.conv2d(x, w, padding=2), of(128, 1, 28, 28), of(32, 1, 5, 5)),
    'conv 1-32 backward weights': (lambda x, w, dy: conv_backward(x, w, dy, False), of(128, 1, 28, 28),
                                   of(32, 1, 5, 5), of(128, 32, 28, 28)),
    'max pool forward': (lambda x: F.max_pool2d(x, 2), of(128, 32, 28, 28)),
    'max pool backward': (pool_backward, of(128, 32, 28, 28), of(128, 32, 14, 14), pool_indices),
    'LeNet step': (lambda net, x, t: net(x.view(128, 1, 28, 28), t), lenet, of(128, 784), labels),
    'MLP step': (lambda net, x, t: net(x, t), mlp, of(128, 784), labels),
}
serve(ROWS, torch.set_num_threads, lambda a: torch.from_numpy(a) if isinstance(a, np.ndarray) else a)
