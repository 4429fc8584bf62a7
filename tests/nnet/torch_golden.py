#!/usr/bin/env python3
# Writes what PyTorch makes of nnet's functions in float64, with gradients: tests/nnet/golden/*.txt.
# SPDX-License-Identifier: MIT
"""torch_golden.py --out tests/nnet/golden

A case is a line `case NAME` and, of each array, its kind (`in`, `out`, `grad`), its shape and its elements. Operands are
multiples of 1/8, so that all dtypes hold them; the gradient is that of the sum of the value's elements times 1, 2, 3, 1,
2, 3, ... It is written for the operands that PyTorch has one of.
"""
import argparse
import pathlib

import torch
import torch.nn.functional as F

SHAPES = [(3, 8), (2, 3, 4), (10,), (2, 2, 2, 6)]


class Writer:
    def __init__(self, path):
        self.path, self.lines, self.cases = path, [], 0

    def array(self, kind, a):
        a = a.detach()
        shape = ",".join(map(str, a.shape)) or "-"
        self.lines.append(f"{kind} {shape} " + " ".join("%.12g" % v for v in a.flatten().tolist()))

    def case(self, name, f, *operands, constant=()):
        """operands in `constant` have no gradient."""
        leaves = [a.clone().requires_grad_(a.dtype == torch.float64 and k not in constant)
                  for k, a in enumerate(operands)]
        value = f(*leaves)
        weights = (torch.arange(value.numel()) % 3 + 1).double().reshape(value.shape)
        (value * weights).sum().backward()
        self.lines.append(f"case {name}")
        for a in operands:
            self.array("in", a)
        self.array("out", value)
        for k, a in enumerate(leaves):
            if a.grad is not None:
                self.array(f"grad{k}", a.grad)
        self.cases += 1

    def close(self):
        text = "\n".join(self.lines) + "\n"
        self.path.write_text(text)
        print(f"{self.path.name}: {self.cases} cases, {len(text)} bytes")


def eighths(generator, shape, low=-4.0, high=4.0, without=()):
    """Multiples of 1/8 in [low, high], but for kinks, where PyTorch's gradient is a choice."""
    a = torch.randint(round(low * 8), round(high * 8) + 1, shape, generator=generator).double() / 8
    for kink in without:
        a = torch.where(a == kink, torch.full_like(a, kink + 0.125), a)
    return a


def signs(generator, shape):
    return torch.randint(0, 2, shape, generator=generator).double() * 2 - 1


ACTIVATIONS = {
    "relu": (F.relu, [0]), "relu6": (F.relu6, [0, 6]), "sigmoid": (torch.sigmoid, []), "tanh": (torch.tanh, []),
    "logsigmoid": (F.logsigmoid, []), "softplus": (F.softplus, []), "softsign": (F.softsign, [0]),
    "tanhshrink": (F.tanhshrink, []), "silu": (F.silu, []), "mish": (F.mish, []), "gelu": (F.gelu, []),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), []), "selu": (F.selu, [0]),
    # PyTorch's own takes a sixth in float32
    "hardsigmoid": (lambda x: F.relu6(x + 3) / 6, [-3, 3]), "hardswish": (F.hardswish, [-3, 3]),
    "leaky_relu": (F.leaky_relu, [0]), "leaky_relu 0.25": (lambda x: F.leaky_relu(x, 0.25), [0]),
    "elu": (F.elu, [0]), "elu 0.5": (lambda x: F.elu(x, 0.5), [0]), "celu": (F.celu, [0]),
    "celu 2": (lambda x: F.celu(x, 2.0), [0]), "softshrink": (F.softshrink, [-0.5, 0.5]),
    "softshrink 1": (lambda x: F.softshrink(x, 1.0), [-1, 1]), "hardshrink": (F.hardshrink, [-0.5, 0.5]),
    "hardshrink 1": (lambda x: F.hardshrink(x, 1.0), [-1, 1]), "hardtanh": (F.hardtanh, [-1, 1]),
    "hardtanh -2 0.5": (lambda x: F.hardtanh(x, -2.0, 0.5), [-2, 0.5]),
    "threshold": (lambda x: F.threshold(x, 0.5, -1.0), [0.5]), "glu": (lambda x: F.glu(x, -1), []),
    "glu 0": (lambda x: F.glu(x, 0), []), "erf": (torch.erf, []), "erfc": (torch.erfc, []),
}


def activations(path):
    w, g = Writer(path / "activations.txt"), torch.Generator().manual_seed(1)
    for name, (f, kinks) in ACTIVATIONS.items():
        high = 8.0 if "6" in name else 4.0
        for shape in SHAPES:
            if name == "glu 0" and shape[0] % 2:
                continue
            w.case(name, f, eighths(g, shape, -4.0, high, kinks))
    for shape in SHAPES:
        w.case("prelu", lambda x, a: torch.where(x > 0, x, a * x), eighths(g, shape, without=[0]),
               eighths(g, shape[-1:], 0.0, 1.0))
        for name, f in (("swiglu", F.silu), ("geglu", F.gelu)):
            w.case(name, lambda a, b: f(a) * b, eighths(g, shape), eighths(g, shape))
    w.close()


def losses(path):
    w, g = Writer(path / "elementwise_losses.txt"), torch.Generator().manual_seed(2)
    far = lambda x, y: torch.where(x == y, x + 0.125, x)  # no kink at a distance of 0
    for reduction in ("mean", "sum", "none"):
        r = {"reduction": reduction}
        for shape in SHAPES[:3]:
            y = eighths(g, shape)
            x = far(eighths(g, shape), y)
            p, t = eighths(g, shape, 0.125, 0.875), eighths(g, shape, 0.0, 1.0)
            add = lambda name, f, *a, **k: w.case(f"{name} {reduction}", f, *a, **k)
            add("mse_loss", lambda a, b: F.mse_loss(a, b, **r), x, y)
            add("l1_loss", lambda a, b: F.l1_loss(a, b, **r), x, y)
            add("huber_loss", lambda a, b: F.huber_loss(a, b, **r), x, y)
            add("huber_loss 0.5625", lambda a, b: F.huber_loss(a, b, delta=0.5625, **r), x, y)
            add("smooth_l1_loss", lambda a, b: F.smooth_l1_loss(a, b, **r), x, y)
            add("smooth_l1_loss 2", lambda a, b: F.smooth_l1_loss(a, b, beta=2.0, **r), x, y)
            add("binary_cross_entropy", lambda a, b: F.binary_cross_entropy(a, b, **r), p, t, constant=[1])
            add("binary_cross_entropy_with_logits", lambda a, b: F.binary_cross_entropy_with_logits(a, b, **r), x, t)
            add("positive_weight", lambda a, b, c: F.binary_cross_entropy_with_logits(a, b, pos_weight=c, **r), x, t,
                eighths(g, shape[-1:], 0.5, 3.0), constant=[1, 2])
            add("kl_div", lambda a, b: F.kl_div(a, b, **r), x, t, constant=[1])
            add("poisson_nll_loss", lambda a, b: F.poisson_nll_loss(a, b, **r), x, eighths(g, shape, 0.0, 4.0),
                constant=[1])
            add("gaussian_nll_loss", lambda a, b, c: F.gaussian_nll_loss(a, b, c, **r), x, y,
                eighths(g, shape, 0.25, 3.0))
            s = signs(g, shape)
            add("soft_margin_loss", lambda a, b: F.soft_margin_loss(a, b, **r), x, s, constant=[1])
            add("hinge_embedding_loss", lambda a, b: F.hinge_embedding_loss(a, b, **r), eighths(g, shape, without=[1]),
                s, constant=[1])
            add("margin_ranking_loss 0.0625", lambda a, b, c: F.margin_ranking_loss(a, b, c, margin=0.0625, **r), x, y,
                s, constant=[2])
        for rows, n in ((4, 6), (7, 3)):
            a, b, c = (eighths(g, (rows, n)) for _ in range(3))
            s = signs(g, (rows,))
            add("cosine_embedding_loss", lambda u, v, k: F.cosine_embedding_loss(u, v, k, **r), a, b, s, constant=[2])
            add("cosine_embedding_loss 0.25", lambda u, v, k: F.cosine_embedding_loss(u, v, k, margin=0.25, **r), a, b,
                s, constant=[2])
            add("triplet_margin_loss", lambda u, v, k: F.triplet_margin_loss(u, v, k, **r), a, b, c)
            add("triplet_margin_loss 4", lambda u, v, k: F.triplet_margin_loss(u, v, k, margin=4.0, **r), a, b, c)
            add("cosine_similarity", lambda u, v: F.cosine_similarity(u, v), a, b)
    w.close()


def cross_entropy(path):
    """Labels of (.., n) logits are (..); of those named `axis 1`, classes are along it, as in PyTorch."""
    w, g = Writer(path / "cross_entropy.txt"), torch.Generator().manual_seed(3)
    for reduction in ("mean", "sum", "none"):
        for n, rows in ((7, (5,)), (10, (2, 3)), (1, (2,)), (70, (4,)), (4, ())):
            x, labels = eighths(g, (*rows, n)), torch.randint(0, n, rows, generator=g)
            ignored = torch.where(torch.rand(rows, generator=g) < 0.4, torch.full_like(labels, -100), labels)
            weights = eighths(g, (n,), 0.5, 3.0)
            flat = lambda a, y, **k: F.cross_entropy(
                a.reshape(-1, n), y.reshape(-1), reduction=reduction, **k).reshape(rows if reduction == "none" else ())
            add = lambda name, f, *a, **k: w.case(f"{name} {reduction}", f, *a, **k)
            add("plain", flat, x, labels)
            add("smoothing", lambda a, y: flat(a, y, label_smoothing=0.125), x, labels)
            if rows and not (ignored == -100).all():
                add("ignored", flat, x, ignored)
                add("ignored smoothing", lambda a, y: flat(a, y, label_smoothing=0.25), x, ignored)
                add("weights", lambda a, y, c: flat(a, y, weight=c), x, ignored, weights, constant=[2])
                add("weights smoothing", lambda a, y, c: flat(a, y, weight=c, label_smoothing=0.25), x, ignored,
                    weights, constant=[2])
            if rows:
                soft = eighths(g, (*rows, n), 0.0, 1.0)
                add("soft", lambda a, y: F.cross_entropy(a.reshape(-1, n), y.reshape(-1, n), reduction=reduction).reshape(
                    rows if reduction == "none" else ()), x, soft, constant=[1])
        x, labels = eighths(g, (2, 5, 3, 2)), torch.randint(0, 5, (2, 3, 2), generator=g)
        add("axis 1", lambda a, y: F.cross_entropy(a, y, reduction=reduction), x, labels)
        add("axis 1 weights", lambda a, y, c: F.cross_entropy(a, y, c, reduction=reduction), x, labels,
            eighths(g, (5,), 0.5, 3.0), constant=[2])
    w.close()


def norms(path):
    w, g = Writer(path / "norms.txt"), torch.Generator().manual_seed(4)
    for shape in ((3, 8), (2, 3, 70), (4, 1), (2, 2, 2, 6)):
        x, gain, bias = eighths(g, shape), eighths(g, shape[-1:], 0.5, 2.0), eighths(g, shape[-1:])
        n = shape[-1:]
        w.case("layer_norm plain", lambda a: F.layer_norm(a, n), x)
        w.case("layer_norm gain", lambda a, b: F.layer_norm(a, n, b), x, gain)
        w.case("layer_norm", lambda a, b, c: F.layer_norm(a, n, b, c), x, gain, bias)
        w.case("layer_norm eps", lambda a, b, c: F.layer_norm(a, n, b, c, eps=0.5), x, gain, bias)
        w.case("rms_norm plain", lambda a: F.rms_norm(a, n, eps=1e-5), x)
        w.case("rms_norm", lambda a, b: F.rms_norm(a, n, b, eps=0.125), x, gain)
        if len(shape) > 2:
            two = shape[-2:]
            w.case("layer_norm two axes", lambda a, b, c: F.layer_norm(a, two, b, c), x, eighths(g, two, 0.5, 2.0),
                   eighths(g, two))
    for shape in ((6, 4), (3, 4, 5), (2, 4, 3, 3), (2, 8, 2, 2, 3)):
        c = shape[1]
        x, gain, bias = eighths(g, shape), eighths(g, (c,), 0.5, 2.0), eighths(g, (c,))
        w.case("batch_norm plain", lambda a: F.batch_norm(a, None, None, training=True), x)
        w.case("batch_norm", lambda a, b, d: F.batch_norm(a, None, None, b, d, training=True), x, gain, bias)
        w.case("batch_norm eps", lambda a, b, d: F.batch_norm(a, None, None, b, d, training=True, eps=0.25), x, gain,
               bias)
        w.case("group_norm 2", lambda a, b, d: F.group_norm(a, 2, b, d), x, gain, bias)
        w.case("group_norm 4 plain", lambda a: F.group_norm(a, 4, eps=0.5), x)
        mean, var = eighths(g, (c,)), eighths(g, (c,), 0.25, 3.0)
        w.case("batch_norm_inference", lambda a, b, d, m, v: F.batch_norm(a, m.detach(), v.detach(), b, d), x, gain, bias,
               mean, var, constant=[3, 4])
        if len(shape) > 2:
            w.case("instance_norm", lambda a, b, d: F.instance_norm(a, weight=b, bias=d), x, gain, bias)
            w.case("instance_norm plain", lambda a: F.instance_norm(a), x)
            w.case("local_response_norm", lambda a: F.local_response_norm(a, 5), x)
            w.case("local_response_norm 2", lambda a: F.local_response_norm(a, 2, alpha=0.5, beta=0.5, k=2.0), x)
            w.case("local_response_norm 3", lambda a: F.local_response_norm(a, 3, alpha=1.5, beta=1.25, k=0.5), x)
        w.case("weight_norm", lambda a, b: torch._weight_norm(a, b.reshape(-1, *[1] * (a.dim() - 1)), 0), x,
               eighths(g, shape[:1], 0.5, 2.0))
        others = [d for d in range(len(shape)) if d != 1]
        w.case("weight_norm 1", lambda a, b: a / a.square().sum(others, keepdim=True).sqrt()
               * b.reshape(-1, *[1] * (a.dim() - 2)), x, gain)
    w.close()


def labels(path):
    """Negative log-likelihoods, CTC, embeddings and bilinear products."""
    w, g = Writer(path / "labels.txt"), torch.Generator().manual_seed(5)
    for reduction in ("mean", "sum", "none"):
        add = lambda name, f, *a, **k: w.case(f"{name} {reduction}", f, *a, **k)
        for n, b in ((7, 5), (3, 2), (40, 3)):
            x, y, weights = eighths(g, (b, n)), torch.randint(0, n, (b,), generator=g), eighths(g, (n,), 0.5, 3.0)
            y[0] = 1
            ignored = torch.where(torch.arange(b) == b - 1, 1, y)
            add("nll_loss", lambda a, k: F.nll_loss(a, k, reduction=reduction), x, y)
            add("nll_loss ignored", lambda a, k: F.nll_loss(a, k, ignore_index=1, reduction=reduction), x,
                ignored if (ignored != 1).any() else y * 0)
            add("nll_loss weights", lambda a, k, c: F.nll_loss(a, k, c, reduction=reduction), x, y, weights,
                constant=[2])
        add("nll_loss axis 1", lambda a, k: F.nll_loss(a, k, reduction=reduction), eighths(g, (2, 4, 3)),
            torch.randint(0, 4, (2, 3), generator=g))
        for steps, batch, classes, most in ((6, 3, 5, 3), (12, 2, 4, 1), (1, 1, 3, 1), (9, 4, 3, 4)):
            for blank in (0, classes - 1):
                x = eighths(g, (steps, batch, classes))
                y = torch.randint(0, classes - 1, (batch, most), generator=g) + (blank == 0)
                length = torch.randint(0, most + 1, (batch,), generator=g)
                # labels that are the same have a blank between them
                needed = length + torch.stack([(y[i, 1:length[i]] == y[i, :max(length[i] - 1, 0)]).sum()
                                               for i in range(batch)])
                taken = torch.maximum(torch.minimum(needed + 1, torch.tensor(steps)), torch.tensor(1))
                taken[0] = steps
                add(f"ctc_loss {'last' if blank else 'first'}", lambda a, k, s, m: F.ctc_loss(
                    a.log_softmax(-1), k, s, m, blank=blank, reduction=reduction, zero_infinity=True), x, y, taken, length)
    for rows, n, of in ((5, 3, (4,)), (7, 70, (2, 3)), (4, 1, (6, 2))):
        # no two alike: of equal ones PyTorch hands the gradient to one
        table = (torch.randperm(rows * n, generator=g).double() / 8 - 4).reshape(rows, n)
        index = torch.randint(0, rows, of, generator=g)
        w.case("embedding", lambda a, i: F.embedding(i, a), table, index)
        w.case("embedding padded", lambda a, i: F.embedding(i, a, padding_idx=1), table, index)
        bags = index.reshape(-1, 2)
        for mode in ("mean", "sum", "max"):
            w.case(f"embedding_bag {mode}", lambda a, i: F.embedding_bag(i, a, mode=mode), table, bags)
            w.case(f"embedding_bag {mode} padded", lambda a, i: F.embedding_bag(i, a, mode=mode, padding_idx=2), table,
                   bags)
        w.case("embedding_bag weights", lambda a, i, s: F.embedding_bag(i, a, mode="sum", per_sample_weights=s), table,
               bags, eighths(g, bags.shape))
    for of in ((3,), (2, 2), (1, 4)):
        w.case("bilinear", lambda a, b, c: F.bilinear(a, b, c), eighths(g, (*of, 3)), eighths(g, (*of, 5)),
               eighths(g, (4, 3, 5)))
    w.close()


def rotary(x, base=10000.0, interleaved=False, offset=0):
    """Su et al. 2021, by complex numbers."""
    half = x.shape[-1] // 2
    position = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] + offset
    turn = torch.exp(1j * position * base ** (-torch.arange(half, dtype=torch.float64) / half))
    pairs = x.reshape(*x.shape[:-1], half, 2) if interleaved else x.reshape(*x.shape[:-1], 2, half).transpose(-1, -2)
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * turn)
    return (turned if interleaved else turned.transpose(-1, -2)).reshape(x.shape)


def attention(path):
    w, g = Writer(path / "attention.txt"), torch.Generator().manual_seed(6)
    sdpa = F.scaled_dot_product_attention
    for batch, heads, shared, queries, keys, d, e in (((2,), 2, 2, 3, 3, 4, 4), ((), 4, 2, 5, 7, 3, 2), ((2,), 6, 2, 2, 9, 8, 8),
                                                     ((1, 2), 3, 1, 4, 4, 2, 3)):
        q = eighths(g, (*batch, heads, queries, d))
        k, v = eighths(g, (*batch, shared, keys, d)), eighths(g, (*batch, shared, keys, e))
        gqa = lambda *a, **o: sdpa(*a, enable_gqa=True, **o)
        w.case("plain", gqa, q, k, v)
        w.case("scale", lambda *a: gqa(*a, scale=0.25), q, k, v)
        w.case("causal", lambda *a: gqa(*a, is_causal=True), q, k, v)
        seen = torch.rand((queries, keys), generator=g) < 0.6
        seen[:, 0] = True
        w.case("mask", lambda a, b, c, m: gqa(a, b, c, attn_mask=m.bool()), q, k, v, seen.double(), constant=[3])
        w.case("bias", lambda a, b, c, m: gqa(a, b, c, attn_mask=m), q, k, v, eighths(g, (heads, queries, keys)))
        w.case("bias of keys", lambda a, b, c, m: gqa(a, b, c, attn_mask=m), q, k, v, eighths(g, (1, 1, keys)))
    q, k, v = eighths(g, (3, 4)), eighths(g, (5, 4)), eighths(g, (5, 2))
    w.case("plain", sdpa, q, k, v)
    for shape in ((3, 8), (2, 2, 5, 6), (1, 2)):
        w.case("rotary", rotary, eighths(g, shape))
        w.case("rotary interleaved", lambda x: rotary(x, 100.0, True, 7), eighths(g, shape))
    w.close()


def recurrent(path):
    """The value is output, hidden state and cell, flat and one behind the other; weights are transposed."""
    w, g = Writer(path / "recurrent.txt"), torch.Generator().manual_seed(7)

    def run(kind, layers, both, lengths=None):
        def f(x, h, *more):
            c, flat = (more[0], more[1:]) if kind == "lstm" else (None, more)
            weights = [p.t() if p.dim() == 2 else p for p in flat]
            x = x.clone()
            if lengths is not None:
                packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
                h = h.index_select(1, packed.sorted_indices)
                c = c if c is None else c.index_select(1, packed.sorted_indices)
                state = (h, c) if kind == "lstm" else h
                r = getattr(torch._VF, kind)(packed.data, packed.batch_sizes, state, weights, True, layers, 0.0, True, both)
                back = torch.nn.utils.rnn.PackedSequence(r[0], packed.batch_sizes, packed.sorted_indices,
                                                         packed.unsorted_indices)
                output = torch.nn.utils.rnn.pad_packed_sequence(back, total_length=x.shape[0])[0]
                r = (output, *(s.index_select(1, packed.unsorted_indices) for s in r[1:]))
            else:
                state = (h, c) if kind == "lstm" else h
                r = getattr(torch._VF, kind)(x, state, weights, True, layers, 0.0, True, both, False)
            return torch.cat([a.flatten() for a in r])
        return f

    for kind, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        for name, layers, both, lengths in (("", 1, False, None), (" both", 1, True, None), (" layers", 2, False, None),
                                            (" lengths", 1, True, True)):
            for steps, batch, inputs, h in ((4, 2, 3, 2), (1, 3, 2, 4)):
                if lengths and steps == 1:
                    continue
                directions = 2 if both else 1
                eighth = lambda *s: eighths(g, s, -1.0, 1.0)
                state = [eighth(layers * directions, batch, h) for _ in range(2 if kind == "lstm" else 1)]
                weights = []
                for layer in range(layers):
                    for _ in range(directions):
                        weights += [eighth(inputs if layer == 0 else h * directions, gates * h), eighth(h, gates * h),
                                    eighth(gates * h), eighth(gates * h)]
                count = torch.tensor([2, steps]) if lengths else None
                w.case(kind + name, run(kind, layers, both, count), eighth(steps, batch, inputs), *state, *weights)
    w.close()


def windows(path):
    """Convolutions, pooling, padding."""
    w, g = Writer(path / "windows.txt"), torch.Generator().manual_seed(8)
    x = lambda *s: eighths(g, s, -2.0, 2.0)

    def conv(name, axes, images, filters, bias=True, then=lambda y: y, transposed=False, **o):
        f = getattr(F, f"conv_transpose{axes}d" if transposed else f"conv{axes}d")
        outputs = filters[1] * o.get("groups", 1) if transposed else filters[0]
        w.case(name, lambda *a: then(f(*a, **o)), x(*images), x(*filters), *([x(outputs)] if bias else []))

    for n, length in ((2, 5), (1, 8)):
        conv("conv1d", 1, (n, 3, length), (2, 3, 3))
        conv("conv1d plain", 1, (n, 3, length), (2, 3, 1), bias=False)
        conv("conv1d options", 1, (n, 4, length), (6, 2, 3), stride=2, padding=3, dilation=2, groups=2)
        conv("conv1d same", 1, (n, 2, length), (2, 2, 4), padding="same")
        conv("conv_transpose1d", 1, (n, 3, length), (3, 2, 3), transposed=True)
        conv("conv_transpose1d options", 1, (n, 4, length), (4, 2, 3), transposed=True, stride=3, padding=1, output_padding=2,
             groups=2)
    for n, h, width in ((2, 5, 6), (1, 7, 5)):
        conv("conv2d", 2, (n, 2, h, width), (3, 2, 3, 2))
        conv("conv2d plain", 2, (n, 2, h, width), (3, 2, 3, 3), bias=False, padding=1)
        conv("conv2d stride", 2, (n, 2, h, width), (2, 2, 2, 3), stride=(2, 3), padding=(0, 2))
        conv("conv2d dilation", 2, (n, 1, h, width), (2, 1, 2, 3), dilation=(3, 2), padding=2)
        conv("conv2d groups", 2, (n, 4, h, width), (6, 2, 3, 3), padding=1, groups=2)
        conv("conv2d depthwise", 2, (n, 3, h, width), (6, 1, 3, 3), padding=1, stride=2, groups=3)
        conv("conv2d same", 2, (n, 2, h, width), (2, 2, 2, 4), padding="same")
        conv("conv2d same dilation", 2, (n, 2, h, width), (1, 2, 3, 2), padding="same", dilation=(1, 3))
        conv("conv2d relu", 2, (n, 2, h, width), (3, 2, 3, 3), then=torch.relu)
        conv("conv2d plain relu", 2, (n, 2, h, width), (3, 2, 3, 3), bias=False, then=torch.relu)
        conv("conv_transpose2d", 2, (n, 2, h, width), (2, 3, 3, 2), transposed=True)
        conv("conv_transpose2d plain", 2, (n, 2, h, width), (2, 3, 2, 2), bias=False, transposed=True, stride=2)
        conv("conv_transpose2d options", 2, (n, 4, h, width), (4, 1, 3, 3), transposed=True, stride=2, padding=1,
             output_padding=1, groups=2)
        conv("conv_transpose2d dilation", 2, (n, 2, h, width), (2, 2, 2, 3), transposed=True, dilation=(2, 3), padding=(0, 2))
    for n, sides in ((1, (4, 5, 3)), (2, (3, 3, 4))):
        conv("conv3d", 3, (n, 2, *sides), (2, 2, 2, 3, 2))
        conv("conv3d plain", 3, (n, 2, *sides), (2, 2, 1, 1, 1), bias=False)
        conv("conv3d options", 3, (n, 2, *sides), (2, 1, 2, 2, 2), stride=(1, 2, 1), padding=(1, 0, 2), dilation=(2, 1, 2),
             groups=2)
        conv("conv3d same", 3, (n, 1, *sides), (2, 1, 2, 3, 2), padding="same")
        conv("conv_transpose3d", 3, (n, 2, *sides), (2, 2, 2, 2, 2), transposed=True, stride=(1, 2, 2), padding=(0, 1, 0))

    # few values: ties, of which the first has the gradient
    ties = lambda *s: torch.randint(-2, 3, s, generator=g).double() / 2
    for axes, shapes in ((1, ((2, 2, 7), (1, 3, 10))), (2, ((2, 2, 5, 7), (1, 2, 6, 8))), (3, ((1, 2, 4, 5, 3), (1, 1, 6, 3, 4)))):
        largest, mean = getattr(F, f"max_pool{axes}d"), getattr(F, f"avg_pool{axes}d")
        for shape in shapes:
            w.case(f"max_pool{axes}d", lambda a: largest(a, 2), ties(*shape))
            w.case(f"max_pool{axes}d options", lambda a: largest(a, 3, 2, 1), ties(*shape))
            w.case(f"max_pool{axes}d ceil", lambda a: largest(a, 3, 2, 1, ceil_mode=True), ties(*shape))
            w.case(f"max_pool{axes}d ceil apart", lambda a: largest(a, 2, 3, ceil_mode=True), ties(*shape))
            w.case(f"avg_pool{axes}d", lambda a: mean(a, 2), x(*shape))
            w.case(f"avg_pool{axes}d options", lambda a: mean(a, 3, 2, 1), x(*shape))
            w.case(f"avg_pool{axes}d not counted", lambda a: mean(a, 3, 2, 1, count_include_pad=False), x(*shape))
            w.case(f"avg_pool{axes}d ceil", lambda a: mean(a, 3, 2, 1, ceil_mode=True), x(*shape))
            w.case(f"avg_pool{axes}d ceil not counted", lambda a: mean(a, 2, 2, 1, ceil_mode=True, count_include_pad=False),
                   x(*shape))
            size = {1: 3, 2: (3, 4), 3: (3, 2, 3)}[axes]
            w.case(f"adaptive_avg_pool{axes}d", lambda a: getattr(F, f"adaptive_avg_pool{axes}d")(a, size), x(*shape))
            w.case(f"adaptive_max_pool{axes}d", lambda a: getattr(F, f"adaptive_max_pool{axes}d")(a, size), ties(*shape))
            w.case(f"global_avg_pool{axes}d", lambda a: getattr(F, f"adaptive_avg_pool{axes}d")(a, 1), x(*shape))
            with_indices = lambda a: largest(a, 2, 2, return_indices=True)
            w.case(f"max_pool{axes}d_with_indices", lambda a: with_indices(a)[0], ties(*shape))
            w.case(f"max_pool{axes}d indices", lambda a: with_indices(a)[1].double() + 0 * a.sum(), ties(*shape))
            pixels, places = with_indices(ties(*shape))
            w.case(f"max_unpool{axes}d",
                   lambda a, i: getattr(F, f"max_unpool{axes}d")(a, i.long(), 2, 2, output_size=shape[2:]),
                   pixels, places.double(), constant=(1,))
    for shape in ((2, 3, 4, 5), (1, 2, 3, 6)):
        for mode in ("reflect", "replicate", "circular", "constant"):
            more = {"value": 1.5} if mode == "constant" else {}
            w.case(f"pad {mode}", lambda a: F.pad(a, (2, 1, 1, 2), mode=mode, **more), x(*shape))
    w.close()


def images(path):
    """Windows as columns, pixels to channels, other sizes, sampling."""
    w, g = Writer(path / "images.txt"), torch.Generator().manual_seed(9)
    x = lambda *s: eighths(g, s, -2.0, 2.0)
    for h, width in ((4, 5), (6, 3)):
        o = {"kernel_size": (2, 3), "dilation": (2, 1), "padding": (0, 1), "stride": (1, 2)}
        w.case("unfold", lambda a: F.unfold(a, 2), x(2, 2, h, width))
        w.case("unfold options", lambda a: F.unfold(a, **o), x(1, 2, h, width))
        columns = F.unfold(torch.zeros(1, 2, h, width), **o).shape
        w.case(f"fold {h}", lambda a: F.fold(a, (h, width), **o), x(*columns))
        w.case("pixel_shuffle", lambda a: F.pixel_shuffle(a, 2), x(1, 8, h // 2, width))
        w.case("pixel_unshuffle", lambda a: F.pixel_unshuffle(a, 2), x(2, 1, h, 4))
    sizes = {1: ((2, 2, 5), 8), 2: ((1, 2, 4, 5), (7, 3)), 3: ((1, 1, 3, 4, 2), (5, 2, 4))}
    for axes, (shape, size) in sizes.items():
        linear = {1: "linear", 2: "bilinear", 3: "trilinear"}[axes]
        for mode, name in (("nearest", "nearest"), ("nearest-exact", "nearest_exact"), ("area", "area"), (linear, "linear")):
            w.case(f"interpolate{axes} {name}", lambda a: F.interpolate(a, size, mode=mode), x(*shape))
        w.case(f"interpolate{axes} linear corners", lambda a: F.interpolate(a, size, mode=linear, align_corners=True), x(*shape))
    for size in ((7, 3), (2, 9)):
        for corners in (False, True):
            w.case(f"cubic {size[0]}" + " corners" * corners,
                   lambda a: F.interpolate(a, size, mode="bicubic", align_corners=corners), x(1, 2, 4, 5))
    for shape in ((2, 2, 4, 5), (1, 1, 3, 3)):
        for mode in ("bilinear", "nearest"):
            for padding in ("zeros", "border", "reflection"):
                for corners in (False, True):
                    places = eighths(g, (shape[0], 3, 2, 2), -1.75, 1.75) + 1 / 32  # between pixels
                    w.case(f"grid_sample {mode} {padding}" + " corners" * corners,
                           lambda a, at: F.grid_sample(a, at, mode, padding, corners), x(*shape), places,
                           constant=(1,) if mode == "nearest" else ())
    w.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    activations(out)
    losses(out)
    cross_entropy(out)
    norms(out)
    labels(out)
    attention(out)
    recurrent(out)
    windows(out)
    images(out)
