# A signal: smoothed, its peaks, its autocorrelation, gaps interpolated.
# SPDX-License-Identifier: MIT
import sys
import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
t = np.arange(n) * 0.01
x = np.sin(2 * np.pi * t) + 0.3 * np.cos(50 * t * t)
window = np.exp(-np.linspace(-2, 2, 31) ** 2)
smooth = np.convolve(x, window / window.sum(), "same")
middle = smooth[1:-1]
peaks = np.flatnonzero((middle > smooth[:-2]) & (middle > smooth[2:]) & (middle > 0.5)) + 1
print(peaks[:10], smooth[peaks][:10])
centred = smooth - smooth.mean()
print((np.correlate(centred, centred, "full")[n - 1:][:200:20]) / (centred ** 2).sum())
known = np.delete(np.arange(n), np.s_[100:n - 100:7])
print(np.abs(np.interp(t, t[known], smooth[known]) - smooth).max())
print(np.trapz(smooth ** 2, t) if hasattr(np, "trapz") else np.trapezoid(smooth ** 2, t))
