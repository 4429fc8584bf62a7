#!/usr/bin/env python3
# Prints the expected values of tests/ops/random.cpp: Philox 4x32-10, its users, and Box-Muller, written anew in NumPy.
# It takes minutes: normal numbers are computed in fractions.
# SPDX-License-Identifier: MIT
from fractions import Fraction
import math

import numpy as np

SEED, STREAM = 0x0123456789ABCDEF, 0xFEDCBA9876543210
# log(1 + f) = f + f^2 Q(f), the coefficients of Q, fitted in float32 for f in [-1/3, 1/3)
LOG = ["-0x1.ffffd6p-2", "0x1.5554fap-2", "-0x1.001480p-2", "0x1.99d428p-3",
       "-0x1.5032e8p-3", "0x1.1ea25ap-3", "-0x1.3b2848p-3", "0x1.1f4270p-3"]
LONG = 70001  # the numbers of the long sequences, of which a hash is printed


def philox(counter, key):
    """Salmon et al., SC11; counter (n, 4) and key (n, 2) of uint32."""
    c = [counter[:, i].astype(np.uint64) for i in range(4)]
    k = [key[:, i].astype(np.uint64) for i in range(2)]
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> shift) ^ c[1] ^ k[0], p1 & low, (p0 >> shift) ^ c[3] ^ k[1], p0 & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    return np.stack(c, 1).astype(np.uint32)


def blocks(first, n, seed=SEED, stream=STREAM):
    """The blocks [first, first + n) of a stream: (n, 4)."""
    b = np.arange(first, first + n, dtype=np.uint64)
    s = np.full(n, stream, np.uint64)
    counter = np.stack([b & np.uint64(0xFFFFFFFF), b >> np.uint64(32), s & np.uint64(0xFFFFFFFF), s >> np.uint64(32)], 1)
    key = np.tile(np.array([seed & 0xFFFFFFFF, seed >> 32], np.uint64), (n, 1))
    return philox(counter, key)


def longs(first, n, **which):
    """n numbers of 64 bits, the first word is the low half."""
    w = blocks(first, (n + 1) // 2, **which).astype(np.uint64).reshape(-1, 2)
    return (w[:, 0] | w[:, 1] << np.uint64(32))[:n]


def box_muller(u, t, second):
    """float64, by the textbook."""
    r = np.sqrt(-2 * np.log(u))
    return r * (np.sin(2 * np.pi * t) if second else np.cos(2 * np.pi * t))


def rounded(x, bits):
    """A fraction rounded to a float of so many bits, ties to even (no subnormals, no overflow)."""
    if x == 0:
        return Fraction(0)
    e = abs(x).numerator.bit_length() - x.denominator.bit_length() - bits
    while abs(x) / Fraction(2) ** e >= 2**bits:
        e += 1
    while abs(x) / Fraction(2) ** e < 2 ** (bits - 1):
        e -= 1
    return round(x / Fraction(2) ** e) * Fraction(2) ** e


class Exact:
    """The same arithmetic as core/philox.hpp prescribes, every operation rounded once: gives bit patterns."""

    def __init__(self, double):
        self.bits = 53 if double else 24
        self.log_terms, self.trig_terms = 11, 8 if double else 4

    def r(self, x):
        return rounded(Fraction(x), self.bits)

    def fma(self, a, b, c):
        return self.r(a * b + c)

    def minus_two_log(self, u):
        e = 0
        while u < self.r(Fraction(2, 3)):
            u, e = u * 2, e - 1
        f = self.r(u - 1)
        two_log_2 = self.r(Fraction("-1.38629436111989061883"))
        if self.bits == 24:
            q = [-2 * Fraction(float.fromhex(x)) for x in LOG]
            p = q[-1]
            for x in q[-2::-1]:
                p = self.fma(p, f, x)
            return self.fma(e, two_log_2, self.fma(p, self.r(f * f), -2 * f))
        s = self.r(f / self.r(u + 1))
        z = self.r(s * s)
        p = self.r(Fraction(1, 2 * self.log_terms + 1))
        for k in range(self.log_terms - 1, -1, -1):
            p = self.fma(p, z, self.r(Fraction(1, 2 * k + 1)))
        return self.fma(self.r(-4 * s), p, self.r(e * two_log_2))

    def series(self, first):
        c = [2 * math.pi if first == 1 else 1.0]
        for i in range(1, self.trig_terms + 1):
            c.append(c[-1] * -(2 * math.pi * (2 * math.pi)) / ((2 * i - 1 + first) * (2 * i + first)))
        return [self.r(x) for x in c]

    def sincos(self, t):
        quarter = round(4 * t)  # ties to even
        x = self.fma(quarter, Fraction(-1, 4), t)
        z = self.r(x * x)
        sines, cosines = self.series(1), self.series(0)
        s, c = sines[-1], cosines[-1]
        for a, b in zip(sines[-2::-1], cosines[-2::-1]):
            s, c = self.fma(s, z, a), self.fma(c, z, b)
        s = self.r(s * x)
        sine, cosine = (c, s) if quarter % 2 else (s, c)
        return (-sine if quarter in (2, 3) else sine), (-cosine if quarter in (1, 2) else cosine)

    def root(self, x):
        return self.r(float(np.sqrt(np.float32(float(x))))) if self.bits == 24 else Fraction(math.sqrt(x))

    def normal(self, u, t, second):
        s, c = self.sincos(t)
        return self.r(self.root(self.minus_two_log(u)) * (s if second else c))


def pairs(n, double):
    """(u, t) of n / 2 pairs as fractions."""
    if double:
        x = longs(0, n)
        return [(Fraction((int(a) >> 11) + 1, 2**53), Fraction(int(b) >> 11, 2**53)) for a, b in x.reshape(-1, 2)]
    w = blocks(0, n // 4).reshape(-1, 2)
    return [(Fraction((int(a) >> 8) + 1, 2**24), Fraction(int(b) >> 8, 2**24)) for a, b in w]


def fnv1a(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


def show(name, values, form):
    print(f"{name}: " + ", ".join(form.format(v) for v in values))


def show_long(name, values):
    print(f"FNV-1a of {LONG} {name}: {fnv1a(values[:LONG].tobytes()):#018x}")


if __name__ == "__main__":
    show("bits", blocks(0, 3).reshape(-1)[:10], "{:#010x}")
    show("bits from block 2^32 - 1", blocks(2**32 - 1, 2).reshape(-1), "{:#010x}")
    u = (blocks(0, 2).reshape(-1) >> np.uint32(8)).astype(np.float64) * 2.0**-24
    show("uniform", u.astype(np.float32), "{:.9g}f")
    show("uniform [-2, 3)", (u * 5 - 2).astype(np.float32), "{:.9g}f")  # exact in float64, so rounded once
    show("uniform double", (longs(0, 4) >> np.uint64(11)).astype(np.float64) * 2.0**-53, "{:.17g}")

    single, double = pairs(LONG + 3, False), pairs(LONG + 1, True)
    show("normal", [box_muller(float(a), float(b), k) for a, b in single[:4] for k in (0, 1)], "{:.9f}")
    show("normal double", [box_muller(float(a), float(b), k) for a, b in double[:2] for k in (0, 1)], "{:.17g}")
    e = Exact(False)
    bits = np.array([float(e.normal(a, b, k)) for a, b in single for k in (0, 1)], np.float32).view(np.uint32)
    show("normal, bits", bits[:8], "{:#010x}")
    print(f"FNV-1a of 4096 normals: {fnv1a(bits[:4096].tobytes()):#018x}")
    show_long("normals", bits)
    e = Exact(True)
    bits = np.array([float(e.normal(a, b, k)) for a, b in double for k in (0, 1)], np.float64).view(np.uint64)
    show("normal double, bits", bits[:4], "{:#018x}")
    print(f"FNV-1a of 64 double normals: {fnv1a(bits[:64].tobytes()):#018x}")
    show_long("double normals", bits)

    words, twice = blocks(0, LONG // 4 + 1).reshape(-1), longs(0, LONG)
    show_long("words", words)
    show_long("uniforms", ((words >> np.uint32(8)).astype(np.float64) * 2.0**-24).astype(np.float32))
    show_long("double uniforms", (twice >> np.uint64(11)).astype(np.float64) * 2.0**-53)
    show_long("integers [-5, 100)", np.array([-5 + (int(x) * 105 >> 64) for x in twice]))

    for low, high in ((-5, 100), (0, 10**15), (-(2**63), 2**63 - 1)):
        show(f"integers [{low}, {high})", [low + (int(x) * (high - low) >> 64) for x in longs(0, 5)], "{}")
    show("permutation 12", np.argsort(longs(0, 12) >> np.uint64(1), kind="stable"), "{}")

    # the first float of seed 0, stream 0 that is 1 - 2^-24: [1, 2) must not give 2
    for first in range(0, 2**24, 2**20):
        at = np.flatnonzero(blocks(first, 2**20, seed=0, stream=0).reshape(-1) >> np.uint32(8) == 0xFFFFFF)
        if at.size:
            print("largest uniform of seed 0: block", first + at[0] // 4, "word", at[0] % 4)
            break
